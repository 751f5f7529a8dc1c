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
	return fmt.Sprintf("%s need %s %d MiB of memory, %d MiB are allowed", what, about, mebibytes(e.Need), mebibytes(e.Have))
}

// mebibytes rounds up.
func mebibytes(n int64) int64 { return (n + 1<<20 - 1) >> 20 }

// tablesShare is which part of the ceiling the tables may take: 1/tablesShare.
// The rest is for rows, for tables of the Source and of the Sink, and for
// garbage. Where the Sink is several, each of them has tables by the same ids:
// see outputsShare.
const tablesShare = 2

// outputsShare is by what the ceiling is divided for a Sink that is so many: of
// what the tables and all else take for one of them, a third more for each
// other.
func outputsShare(outputs int) float64 { return 1 + float64(max(outputs, 1)-1)/3 }

// ceiling watches how much memory the tables of a source take.
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
	t.ceiling = int64(float64(memory) / share)
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

// verdict is check for who may use the tables.
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
	most, input := float64(c.tables.mostHeld), float64(c.tables.mostInput)
	need, early := max(2*float64(now), float64(now)+rowsOfHeld*(most-input)), true
	if now > c.first && done > c.begun && total >= done {
		need, early = float64(c.first)+float64(now-c.first)*float64(total-c.begun)/float64(done-c.begun), false
	}
	if expected := float64(c.tables.expected); expected > need || early && expected > 0 {
		need, early = expected, false
	}
	need = (need*1.35*tablesShare + most) * c.share // tables grow in steps
	return &ErrMemory{Need: mebibytes(int64(min(need, 1<<60))) << 20, Have: c.memory, Early: early, Input: 2*input*c.share > float64(c.memory)}
}

// rowsOfHeld is how much, of what a Source holds for its definitions, the rows
// take that they become, if all of them are new.
const rowsOfHeld = 1

// Hold says that a Source takes so many bytes more, or less, beside the tables,
// for the definitions that it is about to load. Afterwards it asks whether the
// tables are Full.
func (t *Tables) Hold(bytes int64) {
	t.held += bytes
	t.mostHeld = max(t.mostHeld, t.held)
}

// HoldInput is Hold for what becomes no row of the tables: a part of the input that
// is read at once, and what is known of it until it is read.
func (t *Tables) HoldInput(bytes int64) {
	t.Hold(bytes)
	t.input += bytes
	t.mostInput = max(t.mostInput, t.input)
}

// tight reports whether sources hold so much beside the tables that another one
// should wait until they hold less.
func (t *Tables) tight() bool {
	t.Lock()
	defer t.Unlock()
	return t.ceiling > 0 && t.held > t.Room()
}

// Room is how much a Source that is read by a Copy should [Tables.Hold] at most of
// what can wait until it holds less; 0 if there is no bound.
func (t *Tables) Room() int64 { return t.ceiling / heldShare }

// heldShare is which part of the ceiling sources may hold before others wait:
// 1/heldShare.
const heldShare = 8

// Expect says that so many stacks and frames will come of what a Source is about to read,
// at least. If they can't fit, the tables are Full from now on, rather than when most is
// read.
func (t *Tables) Expect(stacks, frames int64) {
	t.expected = t.peak() + freezing*stacks + sorting*frames*int64(unsafe.Sizeof(Frame{}))
}

// Full reports whether the tables, and what is held beside them, have outgrown
// the ceiling of the Copy that reads them, which then ends with an [ErrMemory];
// they stay full. A Source that interns much at a time asks now and then, and
// when they are full leaves out the rest.
func (t *Tables) Full() bool {
	t.full = t.full || t.ceiling > 0 && max(t.peak(), t.expected)*tablesShare+t.held > t.ceiling
	return t.full
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
	rows := t.Tracks.Bytes() + t.Counters.Bytes() + t.Categories.Bytes() + t.Modules.Bytes() + t.Frames.Bytes() + t.Labels.Bytes() +
		t.Strings.Bytes() - t.Strings.TextBytes()
	return stacks + sorting*rows + t.Strings.TextBytes() + t.counted.bytes(t)
}

// outputMemory is what there is for Sinks beside the final tables, all outputs together.
type outputMemory struct {
	memory int64 // the ceiling
	taken  int64 // by the tables, and by Sinks
}

// settle leaves the Sinks of final tables the rest of a ceiling, 0 if there is none.
// from are the tables that they were made of, which stay, and so do the numbers that
// their rows became.
func (t *Tables) settle(memory int64, from *Tables) {
	if memory > 0 {
		t.room = &outputMemory{memory: memory, taken: t.settledBytes() + from.settledBytes() + 4*int64(from.Stacks.Len()) - from.Strings.TextBytes()}
	}
}

// settledBytes is about how much memory tables take in which nothing is looked up.
func (t *Tables) settledBytes() int64 {
	rows := t.Tracks.Bytes() + t.Counters.Bytes() + t.Categories.Bytes() + t.Modules.Bytes() + t.Frames.Bytes() + t.Labels.Bytes() + t.Strings.Bytes()
	return 8*int64(t.Stacks.Len()) + rows
}

// Left is how much memory Sinks may still Reserve; 0 is no bound.
func (t *Tables) Left() int64 {
	if t.room == nil {
		return 0
	}
	return max(1, t.room.memory-t.room.taken)
}

// Reserve is for a Sink that is about to take memory which depends on the tables, and
// may take it only if there is no error, which is an [ErrMemory]. What is given back is
// below 0.
func (t *Tables) Reserve(bytes int64) error {
	if t.room == nil {
		return nil
	}
	t.room.taken += bytes
	if t.room.taken <= t.room.memory {
		return nil
	}
	return &ErrMemory{Need: mebibytes(t.room.taken+t.room.memory/8) << 20, Have: t.room.memory, Output: true}
}

// ReserveStacks is Reserve of so many bytes for each stack.
func (t *Tables) ReserveStacks(bytes int64) error { return t.Reserve(bytes * int64(t.Stacks.Len()+1)) }

// MergedStack is about how many bytes a stack takes in a second table of stacks, in which
// it is looked up.
const MergedStack = 8 + 16 + 16/2

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
