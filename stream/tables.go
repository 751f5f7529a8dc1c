package stream

import (
	"cmp"
	"sync"

	"gprof/dedupe"
)

// Tables hold what the rows of batches refer to, by ids from 1. The zero Tables is empty
// and ready to use.
type Tables struct {
	sync.Mutex // held by all who use the tables while a Source is being read

	Processes  []Process // by ProcessID
	Tracks     TrackSet  // by TrackID
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
	imported   pprofExtras
	kinds      uint16 // kinds of which there are rows, by bit: see Has
	waiting    []bool // by ProcessID: see Waited; nil is none
	goroutines uint16 // likewise: see HasGoroutines
	cpu        bool   // see HasCPU
	eventIDs   map[string]EventID
	counted    countedTexts

	budget *budget // nil: one without a limit
}

// Process returns the process with that id.
func (t *Tables) Process(id ProcessID) *Process { return &t.Processes[id-1] }

// Event returns the event with that id.
func (t *Tables) Event(id EventID) *Event { return &t.Events[id-1] }

// Has reports whether there are rows of a kind, in the tables that Copy gives to
// a Sink.
func (t *Tables) Has(k Kind) bool { return t.kinds>>k&1 != 0 }

// Waited reports whether there are rows of Waits of a process, in those tables.
func (t *Tables) Waited(id ProcessID) bool { return int(id) < len(t.waiting) && t.waiting[id] }

// HasGoroutines reports whether there are rows of a kind whose goroutine is
// known, in those tables.
func (t *Tables) HasGoroutines(k Kind) bool { return t.goroutines>>k&1 != 0 }

// HasCPU reports whether the CPU time of any sample is known and above 0, in those
// tables.
func (t *Tables) HasCPU() bool { return t.cpu }

// DropUnused leaves processes and tracks that no row refers to out of the final tables,
// because a filter took their rows.
func (t *Tables) DropUnused() { t.onlyUsed = true }

// Track is one line of the timeline of a process. Every process has exactly one
// that is Main.
type Track struct {
	Process    ProcessID
	Name       string
	Main       bool  // of the process as a whole, and of events without a track
	Root       bool  // named after a thread, or the function in which its goroutines began, not by the program
	Start, End Time  // 0 unknown, or those of the process
	Thread     int64 // of the system; 0 unknown, or none
}

// Counter is a value over time, or the measure of measurements.
type Counter struct {
	Process                     ProcessID
	Name, Category, Description string // if the Unit of a measure is no Format, the description is its unit
	Unit                        Format
	Total                       bool // counts up from the start; else a level
	Own                         bool // the recorder's or Go's, not the program's: it reveals nothing but names of threads
	Measure                     bool // of measurements, not a value over time
}

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

// Args is how many Args columns the rows of a series have.
func (t *Tables) Args(s Series) int {
	switch s.Kind {
	case Markers:
		return len(t.Event(s.Event).Fields)
	case Overheads:
		return len(OverheadFields)
	case Logs:
		return 1
	case Pages:
		return len(PageFields)
	}
	return 0
}
