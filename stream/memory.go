package stream

import (
	"fmt"
	"runtime"
	"unsafe"

	"gprof/dedupe"
)

// ErrMemory says that the tables of unique things, which can't be spilled, do not fit
// under the ceiling, CopyOptions.Memory, together with what Sources and Sinks take beside
// them.
type ErrMemory struct {
	Need  int64 // ceiling in bytes that is enough if the rest of the input is like what was read
	Have  int64 // ceiling in bytes
	Early bool  // too little was read to be sure that Need is enough
	Input bool  // most of it is taken by the input while it is read

	Output bool // the output takes it, and all tables are known

	Processes int // how many there are, if most of the memory is for their rows
}

func (e *ErrMemory) Error() string {
	about := "about"
	if e.Early {
		about = "perhaps"
	}
	what := "unique stacks, frames and names"
	if e.Output {
		what = "the output's tables of " + what
	}
	if e.Input {
		what = "what of the input is read at a time, and its " + what + ","
	}
	return fmt.Sprintf("%s need %s %d MiB of memory, %d MiB are allowed", what, about, e.Need>>20, roundUp(e.Have)>>20)
}

// roundUp rounds up to whole mebibytes.
func roundUp[N int64 | float64](bytes N) int64 { return (int64(bytes) + 1<<20 - 1) &^ (1<<20 - 1) }

// tablesShare is the part of the ceiling that the tables may take: 1/tablesShare. The
// rest is for rows, for what Sources and Sinks take, and for garbage. Several outputs
// each take memory for the same tables: see outputsShare.
const tablesShare = 2

// outputsShare divides the ceiling for a Sink of several outputs: each but the first
// takes a third of what the tables and one output take.
func outputsShare(outputs int) float64 { return 1 + float64(max(outputs, 1)-1)/3 }

// budget is the memory for tables and for all that is claimed and reserved beside them.
// Tables that belong together share one.
type budget struct {
	limit int64 // 0: none
	claims

	full     bool
	expected int64 // bytes that the tables will take, at least; 0 unknown
}

// claims are bytes beside the tables, at present and at most.
type claims struct {
	held, mostHeld   int64
	input, mostInput int64 // the part of it that becomes no rows
}

func (t *Tables) sharedBudget() *budget {
	if t.budget == nil {
		t.budget = &budget{}
	}
	return t.budget
}

// Claim is memory that a Source takes beside the tables, for the definitions that it is
// about to load and those that it has loaded. The holder of the tables' lock sets it
// before the memory is taken, and then asks whether the tables are [Tables.Full]. The
// zero Claim claims nothing.
type Claim struct {
	bytes int64
	// Input says that the memory becomes no rows of the tables: it is for a part of the
	// input that is read at once, and what is known of it meanwhile.
	Input bool
}

// Set says how many bytes are taken now; 0 gives them back.
func (c *Claim) Set(t *Tables, bytes int64) {
	b, more := t.sharedBudget(), bytes-c.bytes
	c.bytes = bytes
	b.held += more
	b.mostHeld = max(b.mostHeld, b.held)
	if c.Input {
		b.input += more
		b.mostInput = max(b.mostInput, b.input)
	}
}

// Add says that so many bytes more are taken; below 0, less.
func (c *Claim) Add(t *Tables, bytes int64) { c.Set(t, c.bytes+bytes) }

// Bytes is how many bytes are claimed.
func (c *Claim) Bytes() int64 { return c.bytes }

// tight reports whether sources claim so much that another one should wait.
func (t *Tables) tight() bool {
	t.Lock()
	defer t.Unlock()
	b := t.sharedBudget()
	return b.limit > 0 && b.held > t.Room()
}

// Room is how much a Source that is read by a Copy should claim for what could also wait
// until it claims less; 0 is no bound.
func (t *Tables) Room() int64 { return t.sharedBudget().limit / claimsShare }

// claimsShare is the part of the ceiling that sources may claim before others wait:
// 1/claimsShare.
const claimsShare = 8

// Expect says that a Source will add at least so many stacks and frames. If they can't
// fit, the tables are Full now, rather than when most has been read.
func (t *Tables) Expect(stacks, frames int64) {
	t.sharedBudget().expected = t.peak() + freezing*stacks + sorting*frames*int64(unsafe.Sizeof(Frame{}))
}

// Full reports whether the tables, and what is claimed beside them, have outgrown the
// ceiling of the Copy that reads them. They stay full, and the Copy ends with an
// [ErrMemory]. A Source that interns much at a time asks now and then, and leaves out the
// rest when they are full.
func (t *Tables) Full() bool {
	b := t.sharedBudget()
	b.full = b.full || b.limit > 0 && max(t.peak(), b.expected)*tablesShare+b.held > b.limit
	return b.full
}

// freezing is the memory for a stack while tables are made final: its old and its new
// node, two links, the queue, and whether it is in use.
const freezing = 8 + 8 + 3*4 + 1

// sorting is how many copies of other rows there are while they are sorted.
const sorting = 3

// peak is about how much memory t takes at most until it is frozen, including the final
// tables.
func (t *Tables) peak() int64 {
	stacks := max(t.Stacks.Bytes()+int64(t.Stacks.Len()), freezing*int64(t.Stacks.Len()))
	rows := t.rowBytes() - t.Strings.TextBytes()
	return stacks + sorting*rows + t.Strings.TextBytes() + t.counted.bytes(t)
}

// rowBytes is about how much memory all rows but stacks take, including the texts of
// strings.
func (t *Tables) rowBytes() int64 {
	return t.Tracks.Bytes() + t.Counters.Bytes() + t.Categories.Bytes() + t.Modules.Bytes() + t.Frames.Bytes() + t.Labels.Bytes() + t.Strings.Bytes() + t.imported.bytes()
}

// finalBytes is about how much memory tables take if nothing is looked up in them.
func (t *Tables) finalBytes() int64 { return 8*int64(t.Stacks.Len()) + t.rowBytes() }

// ceiling watches how much memory the tables of a source take while they are read.
type ceiling struct {
	memory int64
	share  float64 // see outputsShare
	tables *Tables
	first  int64 // the peak when something had been read
	begun  int64 // how much that was
}

func newCeiling(memory int64, outputs int, t *Tables) ceiling {
	t.Lock()
	defer t.Unlock()
	share := outputsShare(outputs)
	t.sharedBudget().limit = int64(float64(memory) / share)
	return ceiling{memory: memory, share: share, tables: t}
}

// check returns an *ErrMemory if the tables are too large when done of total was read;
// total is 0 if it is unknown.
func (c *ceiling) check(done, total int64) error {
	if !c.tables.TryLock() {
		return nil // a Source interns, perhaps for long; there will be another check
	}
	defer c.tables.Unlock()
	return c.verdict(done, total)
}

// verdict is check for callers that may use the tables.
func (c *ceiling) verdict(done, total int64) error {
	now := c.tables.peak()
	if c.first == 0 {
		c.first, c.begun = now, done
	}
	if !c.tables.Full() {
		return nil
	}
	// Definitions may all have come before the first rows; the rest grows with what is
	// read. Without a total, or too early, this is a guess.
	b := c.tables.budget
	most, input := float64(b.mostHeld), float64(b.mostInput)
	need, early := max(2*float64(now), float64(now)+rowsOfClaim*(most-input)), true
	if now > c.first && done > c.begun && total >= done {
		need, early = float64(c.first)+float64(now-c.first)*float64(total-c.begun)/float64(done-c.begun), false
	}
	if expected := float64(b.expected); expected > need || early && expected > 0 {
		need, early = expected, false
	}
	need = (need*1.35*tablesShare + most) * c.share // tables grow in steps
	e := &ErrMemory{Need: roundUp(min(need, 1<<60)), Have: c.memory, Early: early, Input: 2*input*c.share > float64(c.memory)}
	if n := len(c.tables.Processes); 2*int64(n)*processBytes > now {
		e.Processes = n
	}
	return e
}

// processBytes is the memory for a process: its provisional and its final row.
const processBytes = 2 * int64(unsafe.Sizeof(Process{}))

// rowsOfClaim is how much memory the rows take that definitions become, as a part of what
// a Source claims for them, if all are new.
const rowsOfClaim = 1

// settle leaves to the Sinks of final tables what these leave of a ceiling; 0 is none.
// The tables that they were made of also stay in memory, but for most if they are not
// used again, and so do the numbers of stacks.
func (t *Tables) settle(o CopyOptions, from *Tables) {
	had, numbers := from.finalBytes(), 4*int64(from.Stacks.Len())
	if o.Once {
		from.Stacks, from.Frames, from.Tracks.set = stackTree{}, dedupe.Set[Frame, FrameID]{}, dedupe.Set[Track, TrackID]{}
		from.Strings, from.Processes = dedupe.Texts[StringID]{}, nil
	}
	if o.Memory > 0 {
		held := t.finalBytes() + from.finalBytes() + numbers - from.Strings.TextBytes()
		t.budget = &budget{limit: o.Memory, claims: claims{held: held}}
	}
	if had > largeTables {
		runtime.GC() // what made these tables is not needed any more; the sink may need as much at once
	}
}

// largeTables are so large, in bytes, that the time for a collection does not matter.
const largeTables = 8 << 20

// Left is how much memory Sinks may still Reserve; 0 is no bound.
func (t *Tables) Left() int64 {
	b := t.sharedBudget()
	if b.limit == 0 {
		return 0
	}
	return max(1, b.limit-b.held)
}

// Reserve is called by a Sink that is about to take memory that depends on the tables. It
// may do so if there is no error, which is an [ErrMemory].
func (t *Tables) Reserve(bytes int64) error {
	b := t.sharedBudget()
	if b.limit == 0 {
		return nil
	}
	if held := b.held + bytes; held > b.limit {
		return &ErrMemory{Need: roundUp(held + b.limit/8), Have: b.limit, Output: true}
	}
	b.held += bytes
	return nil
}

// RowBytes is how much memory something takes for each row of tables.
type RowBytes struct{ Stack, Frame, String, Label, Track int64 }

// In is how much memory it takes for all rows of t.
func (r RowBytes) In(t *Tables) int64 {
	of := func(each int64, rows int) int64 { return each * int64(rows+1) } // with row 0
	return of(r.Stack, t.Stacks.Len()) + of(r.Frame, t.Frames.Len()) + of(r.String, t.Strings.Len()) + of(r.Label, t.Labels.Len()) + of(r.Track, t.Tracks.Len())
}

// MergedStack and MergedFrame are about how many bytes a stack and a frame take in second
// tables, in which they are looked up.
const (
	MergedStack = 8 + 16 + 16/2
	MergedFrame = int64(unsafe.Sizeof(Frame{})) + 2*4
)

// countedTexts is the memory that rows point to. It remembers what was counted.
type countedTexts struct {
	processes, tracks, counters, events int
	modules, labels                     int
	size                                int64
}

func (c *countedTexts) bytes(t *Tables) int64 {
	for ; c.processes < len(t.Processes); c.processes++ {
		c.size += processBytes + t.Processes[c.processes].textBytes()
	}
	for ; c.tracks < t.Tracks.Len(); c.tracks++ {
		c.size += int64(len(t.Tracks.At(TrackID(c.tracks + 1)).Name))
	}
	for ; c.counters < t.Counters.Len(); c.counters++ {
		k := t.Counters.At(CounterID(c.counters + 1))
		c.size += int64(len(k.Name) + len(k.Category) + len(k.Description))
	}
	for ; c.events < len(t.Events); c.events++ {
		c.size += t.Events[c.events].bytes()
	}
	for ; c.modules < t.Modules.Len(); c.modules++ {
		m := t.Modules.At(ModuleID(c.modules + 1))
		c.size += int64(len(m.Build) + len(m.Path) + len(m.Name) + len(m.DebugPath) + len(m.DebugName) + len(m.Breakpad) + len(m.Arch))
	}
	for ; c.labels < t.Labels.Len(); c.labels++ {
		c.size += int64(len(t.Labels.At(LabelsID(c.labels + 1)).text))
	}
	return c.size
}

func (p *Process) textBytes() int64 {
	n := len(p.Name) + len(p.Service) + len(p.Version) + len(p.Revision) + len(p.Host) + len(p.Exe) + len(p.CPU) + len(p.Exit.Text) + len(p.Module) + len(p.CPUName)
	for _, list := range [...][]string{p.Args, p.SlowedBy, p.Settings.Features, p.Settings.Tracks} {
		for _, a := range list {
			n += len(a) + int(unsafe.Sizeof(a))
		}
	}
	for _, a := range p.Attrs {
		n += len(a.Key) + len(a.Value) + int(unsafe.Sizeof(a))
	}
	return int64(n)
}

// bytes is the memory of an event and its key, provisional and final.
func (e *Event) bytes() int64 {
	n := int(unsafe.Sizeof(*e)) + len(e.Fields)*int(unsafe.Sizeof(EventField{})) + len(e.Graphs)*int(unsafe.Sizeof(Graph{}))
	text := len(e.Name) + len(e.Chart) + len(e.Tooltip) + len(e.Table) + len(e.Type) + len(e.Description) + len(e.ColorField) + len(e.NameField)
	for i := range e.Fields {
		text += len(e.Fields[i].Name) + len(e.Fields[i].Label) + len(e.Fields[i].Shown)
	}
	for _, g := range e.Graphs {
		text += len(g.Field) + len(g.Shape) + len(g.Color)
	}
	return int64(2*n + 3*text)
}
