package stream

// Time is nanoseconds since the Unix epoch, on the one clock of a run.
type Time int64

// Ids of the tables. 0 is "none" for each.
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
	Waits                    // goroutines that wait at a stack: Value is ns of the time on the wall of all together, Number how many
	Measurements             // of a measure, the Counter, at a stack: Value is in its unit, below 0 in a difference; Number is 0
	Markers                  // an event of the program, with arguments
	Delays                   // how long work had waited: Value is ns
	Allocations              // of the heap: Value is bytes, below 0 those freed, Number is objects; PhaseStart: before the recording
	Counts                   // a counter's absolute value
	Pauses                   // recording stopped (PhaseStart), went on (PhaseEnd); Value is a PauseReason
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
	Waits:        UsesStack | UsesValue,
	Measurements: UsesStack | UsesValue | UsesOwner,
	Allocations:  UsesStack | UsesPhase | UsesValue,
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

// Phase says which part of an event a marker is.
type Phase uint8

const (
	Instant Phase = iota
	Interval
	PhaseStart // its end is another marker of the same event and track
	PhaseEnd
)

// PauseReason is the Value of a Pauses row.
const (
	PausedAll        = 0
	PausedSampling   = 1
	PausedCollecting = 2
)

// LogLevel is the Value of a Logs row.
const (
	LogInfo  = 0
	LogWarn  = 1
	LogError = 2
)

// OverheadFields are the Args of an Overheads row, what was spent since the one
// before: in ns, but the last, which is how many samples were taken.
var OverheadFields = []string{"lock", "clean", "counters", "threads", "samples"}

// PageFields are the Args of a Pages row; all integers but the url.
var PageFields = []string{"tab", "window", "embedder", "private", "url"}

// Tracked says whether rows of the kind belong to a track: samples, waits,
// measurements, markers, delays and allocations do, the last two to the main one.
// The others belong to the process as a whole.
func (k Kind) Tracked() bool { return k <= Allocations }

// Series names rows that belong together. Track is set for kinds that are
// Tracked, Event for Markers, Counter for Counts and Measurements; each is 0
// otherwise.
type Series struct {
	Part    int64 // of time, in the order of time: see package split; else 0
	Process ProcessID
	Track   TrackID
	Kind    Kind
	Event   EventID
	Counter CounterID
}

// Batch is some rows of one series, as columns of equal length; columns that
// the series' kind does not use are empty, and so may be those of whose they are.
//
// Rows of a Source's batch may come in any order. Rows of a segment are sorted
// by (Time, Index).
type Batch struct {
	Series Series
	Time   []Time   // of an interval: its start
	Index  []uint64 // position in the process' recording; unique; breaks ties

	Stack    []StackID // 0 none
	Weight   []int64   // how many samples the row stands for
	CPU      []int64   // ns of CPU time since the track's last sample, -1 unknown
	Phase    []Phase
	Duration []int64  // ns, of an Interval; else 0
	Args     []Column // one for each field of the event
	Value    []int64
	Number   []int64 // operations that led to Value, 0 unknown

	// Whose a row is. Each of these columns may be empty instead, where all its
	// rows are 0: Owner and AppendOwner see to that.
	Thread    []int64    // of the system; 0 unknown
	Goroutine []int64    // 0 unknown
	Labels    []LabelsID // that the program has given its work; 0 none
}

// Len is the number of rows.
func (b *Batch) Len() int { return len(b.Time) }

// Reset empties b for rows of another series with that many Args columns,
// keeping its memory.
func (b *Batch) Reset(s Series, args int) {
	cols := b.Args[:min(args, cap(b.Args))]
	for i := range cols {
		cols[i].Reset()
	}
	for len(cols) < args {
		cols = append(cols, Column{})
	}
	*b = Batch{Series: s, Time: b.Time[:0], Index: b.Index[:0], Stack: b.Stack[:0], Weight: b.Weight[:0], CPU: b.CPU[:0],
		Phase: b.Phase[:0], Duration: b.Duration[:0], Args: cols, Value: b.Value[:0], Number: b.Number[:0],
		Thread: b.Thread[:0], Goroutine: b.Goroutine[:0], Labels: b.Labels[:0]}
}

// Column holds one argument of each row. Whether a value is a number or a text
// is the field's [Type], or, with an argument of the wrong type, the row's.
type Column struct {
	num  []uint64 // the bits of a number; of a text its end in data and its length; of Null 0
	kind []Type   // of each row
	data []byte   // texts, one after the other
}

// Type is how an argument is stored.
type Type uint8

const (
	Null Type = iota
	Int
	Uint
	Float
	Text
	JSON // a value that is none of these, such as a list, as JSON: a text to readers that know no better
)

// Textual reports whether values of the type are bytes: those of [Column.TextAt].
func (t Type) Textual() bool { return t >= Text }

// Reset empties c, keeping its memory.
func (c *Column) Reset() { c.num, c.kind, c.data = c.num[:0], c.kind[:0], c.data[:0] }

// Len is the number of rows.
func (c *Column) Len() int { return len(c.kind) }

// AppendNull, AppendBits and AppendText add a row. bits are those of an int64,
// uint64 or float64, as t says; of AppendTextual t is Text or JSON.
func (c *Column) AppendNull() {
	c.kind, c.num = append(c.kind, Null), append(c.num, 0)
}

func (c *Column) AppendBits(t Type, bits uint64) {
	c.kind, c.num = append(c.kind, t), append(c.num, bits)
}

func (c *Column) AppendText(s []byte) { c.AppendTextual(Text, s) }

func (c *Column) AppendTextual(t Type, s []byte) {
	c.data = append(c.data, s...)
	// The start is found from the length, which is stored beside the end.
	c.kind, c.num = append(c.kind, t), append(c.num, uint64(len(c.data))|uint64(len(s))<<32)
}

// TypeAt is the type of row i.
func (c *Column) TypeAt(i int) Type { return c.kind[i] }

// BitsAt is the number of row i.
func (c *Column) BitsAt(i int) uint64 { return c.num[i] }

// TextAt is the text of row i, or its JSON; it points into the column.
func (c *Column) TextAt(i int) []byte {
	end, n := c.num[i]&(1<<32-1), c.num[i]>>32
	return c.data[end-n : end]
}
