package stream

import "strings"

// Process is one run of a program.
type Process struct {
	Instance uint64 // random; names the process
	Parent   ProcessID
	Twin     uint64 // instance of another recording of the same process at the same time, whose samples count in sums; 0 none
	Pid      int    // as the process knew itself; several may have the same; 0 unknown
	OutPid   string // for formats that need a unique one: Pid, and what tells it from others
	Naming
	Name     string // of the program
	Service  string
	Version  string
	Revision string
	Modified bool     // built from Revision and changes that were not committed
	Module   string   // path of the program's main Go module
	SlowedBy []string // what its build adds that costs time: race, msan, asan, cover
	Host     string
	Exe      string
	Args     []string
	Attrs    []Attr
	Go       string // version
	OS, Arch string
	CPUs     int    // that it may use at once
	Cores    int    // of the machine: hardware threads of one core count once; 0 unknown
	CPUName  string // of the machine's processor

	MemoryLimit int64 // bytes that it and its neighbours may take, 0 unknown

	Start, End Time // of the recording
	Exit       Exit
	Interval   int64  // ns between samples, 0 if none were asked for
	CPU        string // how samples were taken
	Settings   Settings
	SelfTests  []Attr // the results of the recorder's self-tests
	RangeStart uint64 // lowest index still held
	Earliest   Time   // when the oldest chunk still held was begun; 0 unknown; Start if none was given up

	// Changes of its chunks, in the order of time.
	Chunks []ChunkChange

	// Placed is when the first and the last marker was to which the program gave a time
	// before Start or after End; 0 if there is none.
	Placed [2]Time

	Heap    Heap    // how old its heap samples are; zero where only a part of the recording was read
	Profile Profile // of the profile that the process was read from
	Clock   Clock   // how its times were placed
	Traced  bool    // it has events that may be spans of traces
	Read    Ranges  // which positions were read; nil if unknown
}

// ChunkChange says that a recorder has filled chunks or, below 0, discarded some to make room: by
// then at the latest.
type ChunkChange struct {
	Time          Time
	Chunks, Bytes int64
}

// Profile is what a profile in pprof's format says of itself. If it has no Types the
// process is not from such a profile.
type Profile struct {
	Types      []ValueType // of the values of its samples, in their order
	Default    string      // the name of the one to be shown
	PeriodType ValueType
	Period     int64

	// Of a sum that gprof-convert made of many inputs, Sum is true, and UnknownCPU is the number of
	// samples whose CPU time was unknown.
	Sum        bool
	UnknownCPU int64

	Files int64 // profiles that were added up as they were read; 0 if it is a single one
}

// ValueType is the name of a value and its unit.
type ValueType struct{ Name, Unit string }

// Settings are what a recorder was started with.
type Settings struct {
	Limit    int64    // bytes of the recordings of its session, 0 unknown
	Features []string // kinds of data that are recorded
	Tracks   []string // patterns of the tracks that are recorded, or, after a minus, are not; none: all are recorded
}

// Clock says how the times of a process were placed on the clock of the run.
type Clock struct {
	By          string // PlacedByBoot, PlacedByHost, or where its start was found; "" unknown
	Boot        string // id of the machine's boot
	Pieces      int    // stretches with offsets of their own; if there is one, monotonic time is kept exactly
	Uncertainty int64  // ns by which a time may differ from the process' own clock, -1 unknown
	Anchors     int    // readings of monotonic and real time together
	First, Last Time   // of the anchors
	Monotonic   int64  // ns that the machine's monotonic clock read at First, 0 unknown
	Shift       Time   // how far First lies behind what the process' own clock read then, which depends on the other processes of the run
}

// The usual values of Clock.By.
const (
	PlacedByBoot = "boot"                 // the monotonic clock of its boot, which others may share
	PlacedByRun  = "the start of the run" // nothing tells its time
	PlacedByHost = "host"                 // its own readings of the real time: its monotonic clock is not that of its boot
)

// Origin is when the first process began, 0 if nothing tells the time, and the version of Go that compiled all, ""
// if they have several.
func Origin(processes []Process) (start Time, golang string) {
	for i := range processes {
		p := &processes[i]
		if p.Start != 0 && p.Clock.By != PlacedByRun && (start == 0 || p.Start < start) {
			start = p.Start
		}
		if i == 0 {
			golang = p.Go
		} else if golang != p.Go {
			golang = ""
		}
	}
	return start, golang
}

// Machine is the processor that modules of p are made for, as a rule: its Arch without
// the compiler, "x86_64" of "x86_64-gcc3".
func (p *Process) Machine() string {
	machine, _, _ := strings.Cut(p.Arch, "-")
	return machine
}

// Attr is a key and its value.
type Attr struct{ Key, Value string }

// Exit is how a process ended.
type Exit struct {
	Known  bool // false: still running, or killed and nobody noted it
	Reason string
	Code   int64 // exit status or signal; see HasCode
	Text   string
}

// Exited is the Reason of a process that ended with an exit status.
const Exited = "exited"

// HasCode reports whether Code means something: 0 is success only of a process that
// exited. If one was found dead, or stopped recording, the code is unknown.
func (e Exit) HasCode() bool { return e.Known && (e.Code != 0 || e.Reason == Exited) }

// stopped is the Reason of one whose recorder was stopped.
const stopped = "stopped"

// Failed reports whether the process is known to have ended otherwise than in order.
func (e Exit) Failed() bool {
	if e.Reason == Exited {
		return e.Known && e.Code != 0
	}
	return e.Known && e.Reason != stopped
}

// statusGo is the exit status of a Go program whose runtime ends it.
const statusGo = 2

// EndedByRuntime reports whether the process, of a Go program, may have been ended by its
// runtime.
func (e Exit) EndedByRuntime() bool { return e.Known && e.Reason == Exited && e.Code == statusGo }

// Counters by which one judges how close a process came to its MemoryLimit; the
// first is exact.
const (
	CounterGroupMemory = "cgroup memory" // bytes that count against the limit
	CounterRSS         = "RSS"           // resident bytes of the process
)

// Counters by which one judges what recording took, in ns of CPU time: of all threads, and
// of the recorder's own work, which lacks that for samples and markers.
const (
	CounterProcessCPU  = "process CPU"
	CounterRecorderCPU = "recorder CPU"
)

// CounterHeap is the counter of the bytes that objects of the heap take.
const CounterHeap = "heap"

// EventHeapPicture is the recorder's event for a [Picture].
const EventHeapPicture = "heap picture"

// Heap is how far the heap samples of a process can be trusted at its end. They are of
// the last time they were read, and then of a garbage collection before that; the counter
// is read ten times a second.
type Heap struct {
	Sampled   Time  // of the last rows of allocations; 0: there are none
	Explained int64 // bytes that are in use by all rows
	Counted   Time  // when the counter was last read; 0: never
	InUse     int64 // bytes, by the counter

	Picture *Picture // the last one that was taken near a limit of memory; nil: none
}

// Picture is a reading of the heap near a limit of memory: its samples include, if Whole, what was
// allocated since the last garbage collection.
type Picture struct {
	Taken      Time   // when the heap was read
	Written    Time   // when all of it was
	Limit      string // its name
	Used, Most int64  // bytes that count against the limit, and the limit
	Heap       int64  // bytes that objects took then
	Explained  int64  // bytes of it that the samples stand for
	Recent     int64  // of these, what was allocated since the last garbage collection, and may be garbage
	Whole      bool   // Recent is known
}

// Share is the part of the heap that the samples explain, in percent; -1 if it is
// unknown.
func (h *Heap) Share() int64 {
	return share(h.Explained, h.InUse)
}

// Last is the last picture, nil if there is none, or if samples were read long after it.
func (h *Heap) Last() *Picture {
	const picture = 1e9 // ns: one that was being written at the end is not whole
	if p := h.Picture; p != nil && h.Sampled <= p.Written+picture {
		return p
	}
	return nil
}

// Share is the part of the heap that the picture explains, in percent; -1 if it is unknown.
func (p *Picture) Share() int64 { return share(p.Explained, p.Heap) }

func share(part, all int64) int64 {
	if all <= 0 || part < 0 {
		return -1
	}
	return int64(100 * float64(part) / float64(all))
}
