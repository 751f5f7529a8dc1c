package stream

import (
	"cmp"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
)

// Time is nanoseconds since the Unix epoch, on the one clock of a run.
type Time int64

// Ids of the tables. In each, 0 is "none".
type (
	StringID   int32
	ModuleID   int32
	CategoryID int32
	FrameID    int32
	StackID    int32
	LabelsID   int32
	EventID    int32
	CounterID  int32
	TrackID    int32
	ProcessID  int32
)

// Kind is what the rows of a series are.
type Kind uint8

const (
	Samples      Kind = iota // a stack at a moment
	Waits                    // goroutines that wait at a stack: Value is the ns of wall time of all of them, Number how many there are; of a single one the owner may be known
	Measurements             // of a measure, the Counter, at a stack: Value is in its unit, and may be below 0 in a difference; Number is 0
	Markers                  // an event of the program, with arguments
	Delays                   // how long work had waited: Value is ns
	Allocations              // of the heap: Value is bytes, below 0 if they were freed, Number is objects, 0 of a single operation; PhaseStart: before the recording
	Counts                   // a counter's absolute value
	Pauses                   // recording stopped (PhaseStart) or went on (PhaseEnd); Value is a pause reason
	Overheads                // the recorder's own cost: Args are OverheadFields
	Logs                     // Value is a LogLevel, Args one text
	Pages                    // Args are PageFields; Phase is start or end
	numKinds
)

// Columns says which columns of a [Batch] a kind uses, besides Time and Index.
type Columns uint8

const (
	UsesStack Columns = 1 << iota
	UsesWeight
	UsesPhase // Phase and Duration
	UsesArgs
	UsesValue // Value and Number
	UsesOwner // Thread, Goroutine and Labels
)

var kindColumns = [numKinds]Columns{
	Samples:      UsesStack | UsesWeight | UsesOwner,
	Markers:      UsesStack | UsesPhase | UsesArgs | UsesOwner,
	Delays:       UsesValue,
	Waits:        UsesStack | UsesValue | UsesOwner,
	Measurements: UsesStack | UsesValue | UsesOwner,
	Allocations:  UsesStack | UsesPhase | UsesValue | UsesOwner,
	Counts:       UsesValue,
	Pauses:       UsesPhase | UsesValue,
	Overheads:    UsesArgs,
	Logs:         UsesValue | UsesArgs,
	Pages:        UsesPhase | UsesArgs,
}

// Columns returns the columns that rows of the kind have.
func (k Kind) Columns() Columns { return kindColumns[k] }

func (k Kind) String() string {
	return [...]string{"samples", "waits", "measurements", "markers", "delays", "allocations", "counts", "pauses", "overheads", "logs", "pages"}[k]
}

// Tracked reports whether rows of the kind belong to a track: samples, waits,
// measurements, markers, delays and allocations do, the last two to the main one. The
// others belong to the process as a whole.
func (k Kind) Tracked() bool { return k <= Allocations }

// Phase says which part of an event a marker is.
type Phase uint8

const (
	Instant Phase = iota
	Interval
	PhaseStart // its end is another marker of the same event and track
	PhaseEnd
)

// Pause reasons, the Value of a Pauses row.
const (
	PausedAll        = 0
	PausedSampling   = 1
	PausedCollecting = 2
)

// Log levels, the Value of a Logs row.
const (
	LogInfo  = 0
	LogWarn  = 1
	LogError = 2
)

// OverheadFields are the Args of an Overheads row: ns spent since the last such row, and
// the number of samples taken.
var OverheadFields = []string{"lock", "clean", "counters", "threads", "samples"}

// PageFields are the Args of a Pages row; all but the URL are integers.
var PageFields = []string{"tab", "window", "embedder", "private", "url"}

// Series names rows that belong together. Track is set for kinds that are Tracked, Event
// for Markers, Counter for Counts and Measurements; otherwise they are 0.
type Series struct {
	Part    int64 // of time, in that order, if the Source was split: see package split; else 0
	Process ProcessID
	Track   TrackID
	Kind    Kind
	Event   EventID
	Counter CounterID
}

// Check returns an [ErrBatch] if an id is missing that the kind of s needs, or there is
// one that the kind does not have.
func (s Series) Check() error {
	if s.Kind >= numKinds {
		return fmt.Errorf("%w: kind %d is unknown", ErrBatch, s.Kind)
	}
	ids := []struct {
		name string
		id   int32
		want bool
	}{
		{"process", int32(s.Process), true},
		{"track", int32(s.Track), s.Kind.Tracked()},
		{"event", int32(s.Event), s.Kind == Markers},
		{"counter", int32(s.Counter), s.Kind == Counts || s.Kind == Measurements},
	}
	for _, i := range ids {
		if (i.id != 0) != i.want {
			return fmt.Errorf("%w: %v of %s %d", ErrBatch, s.Kind, i.name, i.id)
		}
	}
	return nil
}

// Compare orders series with final ids as a [Sink] gets them.
func (s Series) Compare(o Series) int {
	return cmp.Or(cmp.Compare(s.Part, o.Part), cmp.Compare(s.Process, o.Process), compareBools(s.Track == 0, o.Track == 0), cmp.Compare(s.Track, o.Track),
		cmp.Compare(s.Kind, o.Kind), cmp.Compare(s.Event, o.Event), cmp.Compare(s.Counter, o.Counter))
}

// hash is the same for equal series. It depends on all bits of all ids: a program may have many events on each of many
// tracks, and the numbers of a hostile file are chosen.
func (s Series) hash() uint32 {
	h := fold(uint64(uint32(s.Process))<<32|uint64(uint32(s.Track)), seed)
	h = fold(h^(uint64(uint32(s.Event))<<32|uint64(uint32(s.Counter))), seed)
	h = fold(h^(uint64(s.Part)<<8|uint64(s.Kind)), seed)
	return uint32(h>>32) ^ uint32(h)
}

// seed is another one in each process.
var seed = rand.Uint64() | 1

// fold mixes the bits of two numbers, of which none should be 0.
func fold(a, b uint64) uint64 {
	const odd = 0x9e3779b97f4a7c15
	high, low := bits.Mul64(a^odd, b^odd>>1)
	return high ^ low
}

// ErrBatch says that a batch does not fit its series, which is a fault of the Source.
var ErrBatch = errors.New("bad batch")
