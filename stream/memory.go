package stream

import (
	"fmt"
	"unsafe"
)

// ErrMemory says that the tables of unique things, which can't be spilled, and
// what a Source holds beside them, do not fit under the ceiling:
// CopyOptions.Memory.
type ErrMemory struct {
	Need  int64 // ceiling in bytes that is enough if the rest of the input is as what was read
	Have  int64 // ceiling in bytes
	Early bool  // too little was read to tell: Need may not be enough
	Input bool  // it is mostly what the input takes while it is read

	Output bool // it is what the output takes of the tables, all of which are known
}

func (e *ErrMemory) Error() string {
	about := "about"
	if e.Early {
		about = "at least"
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

// roundUp is whole mebibytes, in bytes.
func roundUp[N int64 | float64](bytes N) int64 { return (int64(bytes) + 1<<20 - 1) &^ (1<<20 - 1) }

// tablesShare is which part of the ceiling the tables may take: 1/tablesShare. The rest
// is for rows, for what Sources and Sinks take, and for garbage. Several outputs have
// tables by the same ids: see outputsShare.
const tablesShare = 2

// outputsShare is by what the ceiling is divided for a Sink that is so many outputs:
// each but the first takes a third of what one and the tables take.
func outputsShare(outputs int) float64 { return 1 + float64(max(outputs, 1)-1)/3 }

// budget is what tables may take, with all that is claimed and reserved beside them. All
// tables that belong together share one.
type budget struct {
	limit int64 // 0 is none
	claims

	full     bool
	expected int64 // bytes that the tables will take, at least; 0 unknown
}

// claims are bytes beside the tables, now and at most.
type claims struct {
	held, mostHeld   int64
	input, mostInput int64 // of that: what becomes no row
}

func (t *Tables) sharedBudget() *budget {
	if t.budget == nil {
		t.budget = &budget{}
	}
	return t.budget
}

// Claim is memory that a Source takes beside the tables: for the definitions that it is
// about to load, and for what it has loaded. It is set before the memory is taken, by
// whoever has locked the tables; then they are asked whether they are [Tables.Full]. The
// zero Claim is of nothing.
type Claim struct {
	bytes int64
	// Input says that the memory becomes no row of the tables: it is for a part of the
	// input that is read at once, and for what is known of it until it is read.
	Input bool
}

// Set says how many bytes are taken now, 0 when they are given back.
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

// Add says that so many bytes more are taken, or less.
func (c *Claim) Add(t *Tables, bytes int64) { c.Set(t, c.bytes+bytes) }

// Bytes is how many are taken.
func (c *Claim) Bytes() int64 { return c.bytes }

// tight reports whether sources claim so much that another one should wait until they
// claim less.
func (t *Tables) tight() bool {
	t.Lock()
	defer t.Unlock()
	b := t.sharedBudget()
	return b.limit > 0 && b.held > t.Room()
}

// Room is how much a Source that is read by a Copy should claim at most of what can wait
// until it claims less; 0 if there is no bound.
func (t *Tables) Room() int64 { return t.sharedBudget().limit / claimsShare }

// claimsShare is which part of the ceiling sources may claim before others wait:
// 1/claimsShare.
const claimsShare = 8

// Expect says that so many stacks and frames will come of what a Source is about to read,
// at least. If they can't fit, the tables are Full from now on, rather than when most is
// read.
func (t *Tables) Expect(stacks, frames int64) {
	t.sharedBudget().expected = t.peak() + freezing*stacks + sorting*frames*int64(unsafe.Sizeof(Frame{}))
}

// Full reports whether the tables, and what is claimed beside them, have outgrown the
// ceiling of the Copy that reads them, which then ends with an [ErrMemory]; they stay
// full. A Source that interns much at a time asks now and then, and when they are full
// leaves out the rest.
func (t *Tables) Full() bool {
	b := t.sharedBudget()
	b.full = b.full || b.limit > 0 && max(t.peak(), b.expected)*tablesShare+b.held > b.limit
	return b.full
}

// freezing is what a stack takes while tables are made final: the old and the new node, two
// links, the queue, whether it is in use.
const freezing = 8 + 8 + 3*4 + 1

// sorting is how often the other rows are held while they are sorted.
const sorting = 3

// peak is about how much memory t takes at most until it is frozen, the final
// tables included.
func (t *Tables) peak() int64 {
	stacks := max(t.Stacks.Bytes()+int64(t.Stacks.Len()), freezing*int64(t.Stacks.Len()))
	rows := t.rowBytes() - t.Strings.TextBytes()
	return stacks + sorting*rows + t.Strings.TextBytes() + t.counted.bytes(t)
}

// rowBytes is about how much memory all rows but stacks take, the texts of strings
// included.
func (t *Tables) rowBytes() int64 {
	return t.Tracks.Bytes() + t.Counters.Bytes() + t.Categories.Bytes() + t.Modules.Bytes() + t.Frames.Bytes() + t.Labels.Bytes() + t.Strings.Bytes()
}

// finalBytes is about how much memory tables take in which nothing is looked up.
func (t *Tables) finalBytes() int64 { return 8*int64(t.Stacks.Len()) + t.rowBytes() }

// ceiling watches how much memory the tables of a source take while they are read.
type ceiling struct {
	memory int64
	share  float64 // of memory that is for one output: its reciprocal
	tables *Tables
	first  int64 // peak when something had been read
	begun  int64 // how much that was
}

func newCeiling(memory int64, outputs int, t *Tables) ceiling {
	t.Lock()
	defer t.Unlock()
	share := outputsShare(outputs)
	t.sharedBudget().limit = int64(float64(memory) / share)
	return ceiling{memory: memory, share: share, tables: t}
}

// check returns an *ErrMemory if the tables are too large, when done of total
// is read; total is 0 if it is not known.
func (c *ceiling) check(done, total int64) error {
	if !c.tables.TryLock() {
		return nil // somebody interns, and may do so for long; it is checked again
	}
	defer c.tables.Unlock()
	return c.verdict(done, total)
}

// verdict is check by a caller that may use the tables.
func (c *ceiling) verdict(done, total int64) error {
	now := c.tables.peak()
	if c.first == 0 {
		c.first, c.begun = now, done
	}
	if !c.tables.Full() {
		return nil
	}
	// Definitions may have come at once, before the first rows; the rest grows
	// with what is read. Without a total, or too early, it is a guess.
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
	return &ErrMemory{Need: roundUp(min(need, 1<<60)), Have: c.memory, Early: early, Input: 2*input*c.share > float64(c.memory)}
}

// rowsOfClaim is how much, of what a Source claims for its definitions, the rows take
// that they become, if all of them are new.
const rowsOfClaim = 1

// settle leaves Sinks of final tables what these leave of a ceiling, 0 if there is none.
// from are the tables that they were made of, which stay, and so do the numbers that
// their rows became.
func (t *Tables) settle(memory int64, from *Tables) {
	if memory > 0 {
		held := t.finalBytes() + from.finalBytes() + 4*int64(from.Stacks.Len()) - from.Strings.TextBytes()
		t.budget = &budget{limit: memory, claims: claims{held: held}}
	}
}

// Left is how much memory Sinks may still Reserve; 0 is no bound.
func (t *Tables) Left() int64 {
	b := t.sharedBudget()
	if b.limit == 0 {
		return 0
	}
	return max(1, b.limit-b.held)
}

// Reserve is for a Sink that is about to take memory which depends on the tables, and may
// take it only if there is no error, which is an [ErrMemory]. RowBytes says how much that
// is.
func (t *Tables) Reserve(bytes int64) error {
	b := t.sharedBudget()
	if b.limit == 0 {
		return nil
	}
	b.held += bytes
	if b.held <= b.limit {
		return nil
	}
	return &ErrMemory{Need: roundUp(b.held + b.limit/8), Have: b.limit, Output: true}
}

// RowBytes is how much memory something takes for each row of tables.
type RowBytes struct{ Stack, Frame, String, Label, Track int64 }

// In is how much it takes for all rows of t.
func (r RowBytes) In(t *Tables) int64 {
	of := func(each int64, rows int) int64 { return each * int64(rows+1) } // and for 0, which is none
	return of(r.Stack, t.Stacks.Len()) + of(r.Frame, t.Frames.Len()) + of(r.String, t.Strings.Len()) + of(r.Label, t.Labels.Len()) + of(r.Track, t.Tracks.Len())
}

// MergedStack and MergedFrame are about how many bytes a stack and a frame take in second
// tables, in which they are looked up.
const (
	MergedStack = 8 + 16 + 16/2
	MergedFrame = int64(unsafe.Sizeof(Frame{})) + 2*4
)

// countedTexts is the memory of what rows point to. What was counted is not
// looked at again.
type countedTexts struct {
	processes, tracks, counters, events int
	modules, labels                     int
	size                                int64
}

func (c *countedTexts) bytes(t *Tables) int64 {
	for ; c.processes < len(t.Processes); c.processes++ {
		c.size += 2*int64(unsafe.Sizeof(Process{})) + t.Processes[c.processes].textBytes()
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

// bytes counts the event, its key, and the final ones of both.
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
