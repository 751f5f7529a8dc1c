package stream

import (
	"cmp"
	"strings"
	"sync"

	"gprof/dedupe"
)

// Tables are what the rows of batches refer to. Ids index them from 1. The
// zero Tables is empty and ready to use.
type Tables struct {
	sync.Mutex // held by who uses the tables while a Source is being read

	Processes  []Process // by ProcessID
	Tracks     dedupe.Set[Track, TrackID]
	Counters   dedupe.Set[Counter, CounterID]
	Events     []Event // by EventID; AddEvent adds one
	Categories dedupe.Set[Category, CategoryID]
	Modules    dedupe.Set[Module, ModuleID]
	Strings    dedupe.Texts[StringID]
	Frames     dedupe.Set[Frame, FrameID]
	Stacks     dedupe.Tree[FrameID, StackID]
	Labels     dedupe.Set[LabelSet, LabelsID]
	Ledger     Ledger

	onlyUsed bool // see DropUnused

	mappings   map[mappingKey]Mapping
	kinds      uint16 // that there are rows of, by bit: see Has
	goroutines uint16 // likewise: see HasGoroutines
	cpu        bool   // see HasCPU
	eventIDs   map[string]EventID
	counted    countedTexts

	// For Full.
	ceiling          int64 // 0 is none
	held, mostHeld   int64 // by sources, now and at most
	input, mostInput int64 // of that: what becomes no row
	expected         int64 // bytes that the tables will take, at least; 0 unknown
	full             bool

	room *outputMemory // of final tables: for Sinks; nil is no bound
}

// Process returns the process with that id.
func (t *Tables) Process(id ProcessID) *Process { return &t.Processes[id-1] }

// Event returns the event with that id.
func (t *Tables) Event(id EventID) *Event { return &t.Events[id-1] }

// Has reports whether there are rows of a kind, in the tables that Copy gives to
// a Sink.
func (t *Tables) Has(k Kind) bool { return t.kinds>>k&1 != 0 }

// HasGoroutines reports whether there are rows of a kind whose goroutine is
// known, in those tables.
func (t *Tables) HasGoroutines(k Kind) bool { return t.goroutines>>k&1 != 0 }

// HasCPU reports whether the CPU time of any sample is known and above 0, in those
// tables.
func (t *Tables) HasCPU() bool { return t.cpu }

// DropUnused leaves processes and tracks out of the final tables that no row refers
// to: a filter has taken their rows.
func (t *Tables) DropUnused() { t.onlyUsed = true }

// Process is one run of a program.
type Process struct {
	Instance uint64 // random; names the process
	Parent   ProcessID
	Twin     uint64 // instance of another recording of the same process at that time, whose samples sums take; 0 none
	Pid      int    // as the process knew itself; several may have the same; 0 unknown
	OutPid   string // for formats that need a unique one: Pid, and what tells it from others
	Naming
	Name     string // of the program
	Service  string
	Version  string
	Revision string
	Modified bool     // built from other source than Revision's: from that and changes
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
	SelfTests  []Attr // what came of the recorder's self-tests: which ways it took
	RangeStart uint64 // lowest index still held
	Earliest   Time   // when the oldest of what is still held was begun; 0 unknown, or Start if nothing was given up

	Heap    Heap    // how old its heap samples are; zero where only a part of the recording was read
	Profile Profile // what a profile says of itself that the process was read from
	Clock   Clock   // how its times were placed
	Read    Ranges  // which positions were read; nil if unknown
}

// Profile is what a profile in pprof's format says of itself. Without Types there is
// none.
type Profile struct {
	Types      []ValueType // of the values of its samples, in their order
	Default    string      // the name of the one to be shown
	PeriodType ValueType
	Period     int64
}

// ValueType is the name of a value and its unit.
type ValueType struct{ Name, Unit string }

// Settings are what a recorder was started with.
type Settings struct {
	Limit    int64    // bytes of the recordings of its session, 0 unknown
	Features []string // kinds of data that are recorded
	Tracks   []string // patterns of the tracks that are recorded, a minus before those that are not; none: all are
}

// Clock says how the times of a process were placed on the clock of the run.
type Clock struct {
	By          string // what placed them: PlacedByBoot, PlacedByHost, or what told its start; "" unknown
	Boot        string // id of the machine's boot
	Pieces      int    // stretches with an offset of their own; with one, monotonic time is kept exactly
	Uncertainty int64  // ns that a time may be off from what the process' own clock said, -1 unknown
	Anchors     int    // readings of monotonic and real time together
	First, Last Time   // of the anchors
	Monotonic   int64  // ns that the machine's monotonic clock read at First, 0 unknown
}

// What placed the times of a process, mostly.
const (
	PlacedByBoot = "boot" // the monotonic clock of its boot, which others may share
	PlacedByHost = "host" // its own readings of the real time: its monotonic clock is not that of its boot
)

// Machine is for which processor the modules of p are made, as a rule: what its Arch
// says before a compiler, "x86_64" of "x86_64-gcc3".
func (p *Process) Machine() string {
	machine, _, _ := strings.Cut(p.Arch, "-")
	return machine
}

// Attr is a key and its value.
type Attr struct{ Key, Value string }

// Exit is how a process ended.
type Exit struct {
	Known  bool // false: still running, or killed with nobody to tell
	Reason string
	Code   int64 // exit status or signal; see HasCode
	Text   string
}

// Exited is the Reason of a process that ended with an exit status.
const Exited = "exited"

// HasCode says whether Code tells something: a 0 is success only of a process
// that exited. Of one that was found dead, or stopped recording, nobody knows.
func (e Exit) HasCode() bool { return e.Known && (e.Code != 0 || e.Reason == Exited) }

// Track is one line of the timeline of a process. Every process has exactly one
// that is Main.
type Track struct {
	Process    ProcessID
	Name       string
	Main       bool  // the process as a whole: events that name no track
	Root       bool  // named after a thread, or the function that its goroutines began in: not by the program
	Start, End Time  // 0 unknown or as the process
	Thread     int64 // the thread of the system that it is; 0 unknown, or none
}

// Counter is a value over time, or what measurements are of.
type Counter struct {
	Process                     ProcessID
	Name, Category, Description string // of a measure whose Unit is no Format, the description is its unit
	Unit                        Format
	Total                       bool // counts up from the start; else a level
	Own                         bool // the recorder's, not the program's: but for the name of a thread it reveals nothing
	Measure                     bool // it is what measurements are of, not a value over time
}

// Counters by which one judges how close a process came to its MemoryLimit; the
// first is exact.
const (
	CounterGroupMemory = "cgroup memory" // bytes that count against the limit
	CounterRSS         = "RSS"           // resident bytes of the process
)

// Category groups frames and markers; Color is one that Firefox Profiler knows.
// Sub is a part of the category, "" what is of no part of it.
// In a Source's tables the category 0 stands for Other; a Sink sees no 0.
type Category struct{ Name, Color, Sub string }

// Title names the category for people: "Go runtime: Scheduler".
func (c Category) Title() string {
	if c.Sub == "" {
		return c.Name
	}
	return c.Name + ": " + c.Sub
}

// Compare orders categories: those of one name and color lie together, the one
// without a part first.
func (c Category) Compare(o Category) int {
	return cmp.Or(cmp.Compare(c.Name, o.Name), cmp.Compare(c.Color, o.Color), cmp.Compare(c.Sub, o.Sub))
}

// Other is the category of what has none. It is always in the output, first.
var Other = Category{Name: "Other", Color: "grey"}

// Module is a mapped file. Two files with one build id are the same module.
type Module struct {
	Build string // build id, or what stands in for it; hex
	Path  string // of the file; "" in the key when Build is known: see Name
	Name  string // base name

	// What only profiles tell: "" is what follows from the rest.
	DebugPath string // of the file with the symbols, if it is another one
	DebugName string // its base name
	Breakpad  string // id by which symbol servers know it: see BreakpadID
	Arch      string // if it is not what the process says: see Process.Machine
}

// Frame is one function at one place. Function is 0 when only the address is
// known. Inlined functions have the address of their outermost caller and a
// Depth from 1.
type Frame struct {
	Module   ModuleID
	Start    int32  // line at which Function begins, 0 unknown; here it takes no memory
	Offset   uint64 // in the file; 0 for a frame without code
	Depth    int32
	Function StringID
	File     StringID
	Line     int32 // 0 unknown
	Category CategoryID
	Label    bool // named by the program; no code
	Scripted bool // what scripts call, or a script's: shown among their functions

	// Of a function of a script, such as JavaScript, which is in no module: File
	// says which. Lines of scripts hold many functions.
	Script      bool
	Column      int32 // in Line, from 1; 0 unknown
	StartColumn int32 // in the line Start

	Window int64 // of the page whose script runs here or called this; 0 unknown
}

// Event is the definition of markers: name and typed fields.
type Event struct {
	Name     string
	Category CategoryID
	Display  Location
	Chart    string // label templates, "" for the default
	Tooltip  string
	Table    string
	Fields   []EventField

	// Type is what Firefox Profiler knows such markers by, which shows some types
	// in ways of their own; events of one type share what is said of it. "" is a
	// type of this event alone, which a sink names after it.
	Type string
	// NameField is the name of the field that is what a marker is called, where they
	// have names of their own; "" if all are called as the event.
	NameField string
	// Bare says that nothing is said of the type, so that the viewer goes by what
	// it knows itself.
	Bare        bool
	Description string  // for people, one or two sentences
	Graphs      []Graph // that give the markers a track of their own in the timeline
	ColorField  string  // name of the field that says which color a marker has
	Nested      bool    // markers of a thread never overlap in part: they lie beside or in each other
}

// Graph is a line in the timeline that shows the values of a field.
type Graph struct {
	Field string // its name
	Shape string // bar, line or line-filled
	Color string // one that Firefox Profiler knows for graphs, "" for any
}

// EventField is one argument of an event.
type EventField struct {
	Name, Label string
	Type        Type
	Format      Format
	Privacy     Privacy
	Searchable  bool
	Hidden      bool
	Unlisted    bool // what is said of the event does not name the field, so that it is not shown
	// Shown is how Firefox Profiler shows the values, if that is not the way of
	// their Format: one of its formats, or the JSON of one that is an object.
	Shown string
}

// AddEvent interns e by content.
func (t *Tables) AddEvent(e Event) EventID {
	key := e.key()
	if id, ok := t.eventIDs[key]; ok {
		return id
	}
	if t.eventIDs == nil {
		t.eventIDs = make(map[string]EventID)
	}
	t.Events = append(t.Events, e)
	id := EventID(len(t.Events))
	t.eventIDs[key] = id
	return id
}

// Format is the unit and meaning of a field or a counter.
type Format uint8

const (
	FormatInteger Format = iota
	FormatDecimal
	FormatText
	FormatBytes
	FormatNanoseconds // a duration
	FormatTime        // a Time
	FormatPercentage  // 1.0 is 100 %
	FormatHexadecimal
	FormatBool
	FormatPath
	FormatURL
	FormatString // a text that repeats often
	FormatFlow
	FormatFlowEnd
	FormatThread
	FormatProcess
	FormatWindow // the window of a page
	FormatPicowatt
	NumFormats
)

// Privacy is what a value may reveal.
type Privacy uint8

const (
	PrivacyPlain Privacy = iota
	PrivacyPath
	PrivacyURL
	PrivacyUser
	PrivacySecret
)

// Location is a set of places where markers are shown.
type Location uint16

const (
	ShowChart Location = 1 << iota
	ShowTable
	ShowTimeline
	ShowMemory
	ShowIPC
	ShowFileIO
	ShowStack
	ShowNetwork
)
