package streamtest

import (
	"fmt"
	"math/rand/v2"

	"gprof/stream"
)

// Shuffled returns a Source of the same events with rows in another order, batches of
// other sizes, other provisional ids, and unused rows in the tables. A sink behind Copy
// must not see the difference.
func (b *Builder) Shuffled(seed uint64) *Source {
	s := shuffler{r: rand.New(rand.NewPCG(seed, seed)), from: b.Tables, to: new(stream.Tables)}
	s.tables()
	rows := make([]Row, len(b.Rows))
	for i, n := range s.r.Perm(len(rows)) {
		r := b.Rows[n]
		r.Process, r.Track, r.Event, r.Counter = s.processes[r.Process], s.tracks[r.Track], s.events[r.Event], s.counters[r.Counter]
		r.Stack, r.Labels = s.stacks[r.Stack], s.labels[r.Labels]
		rows[i] = r
	}
	batches := Batches(s.to, rows, 1+s.r.IntN(200))
	s.r.Shuffle(len(batches), func(i, j int) { batches[i], batches[j] = batches[j], batches[i] })
	return NewSource(s.to, batches...)
}

// shuffler makes tables with other ids. The slices hold the new id of each old one.
type shuffler struct {
	r        *rand.Rand
	from, to *stream.Tables

	processes  []stream.ProcessID
	tracks     []stream.TrackID
	counters   []stream.CounterID
	events     []stream.EventID
	categories []stream.CategoryID
	modules    []stream.ModuleID
	strings    []stream.StringID
	frames     []stream.FrameID
	stacks     []stream.StackID
	labels     []stream.LabelsID
}

func (s *shuffler) tables() {
	s.shuffleProcesses()
	s.tracks = shuffle(s, &s.to.Tracks, &s.from.Tracks, func(t stream.Track) stream.Track {
		t.Process = s.processes[t.Process]
		return t
	})
	s.counters = shuffle(s, &s.to.Counters, &s.from.Counters, func(c stream.Counter) stream.Counter {
		c.Process = s.processes[c.Process]
		return c
	})
	s.litter()
	s.categories = shuffle(s, &s.to.Categories, &s.from.Categories, same)
	s.shuffleEvents()
	s.modules = shuffle(s, &s.to.Modules, &s.from.Modules, same)
	s.strings = shuffle(s, &s.to.Strings, &s.from.Strings, same)
	s.frames = shuffle(s, &s.to.Frames, &s.from.Frames, func(f stream.Frame) stream.Frame {
		f.Module, f.Category = s.modules[f.Module], s.categories[f.Category]
		f.Function, f.File = s.strings[f.Function], s.strings[f.File]
		return f
	})
	s.shuffleStacks()
	s.labels = shuffle(s, &s.to.Labels, &s.from.Labels, same)
	for _, line := range s.from.Ledger.Lines() {
		s.to.Ledger.Add(line)
	}
}

// litter adds unused rows.
func (s *shuffler) litter() {
	word := fmt.Sprint("litter", s.r.Uint64())
	name := s.to.Strings.Intern(word)
	category := s.to.Categories.Intern(stream.Category{Name: word})
	module := s.to.Modules.Intern(stream.Module{Name: word})
	frame := s.to.Frames.Intern(stream.Frame{Function: name, Module: module, Category: category})
	s.to.Stacks.Intern(0, frame)
	s.to.Labels.Intern(stream.NewLabelSet(stream.Attr{Key: word}))
	s.to.AddEvent(stream.Event{Name: word, Category: category})
	if len(s.to.Processes) > 0 {
		s.to.Counters.Intern(stream.Counter{Name: word, Process: 1})
	}
}

func (s *shuffler) shuffleProcesses() {
	n := len(s.from.Processes)
	s.to.Processes = make([]stream.Process, n)
	s.processes = make([]stream.ProcessID, n+1)
	for i, to := range s.r.Perm(n) {
		s.to.Processes[to] = s.from.Processes[i]
		s.processes[i+1] = stream.ProcessID(to + 1)
	}
	for i := range s.to.Processes {
		p := &s.to.Processes[i]
		p.Parent = s.processes[p.Parent]
	}
}

func (s *shuffler) shuffleEvents() {
	s.events = make([]stream.EventID, len(s.from.Events)+1)
	for _, i := range s.r.Perm(len(s.from.Events)) {
		e := s.from.Events[i]
		e.Category = s.categories[e.Category]
		s.events[i+1] = s.to.AddEvent(e)
	}
}

// shuffleStacks interns the stacks in another order, but still callers before callees.
func (s *shuffler) shuffleStacks() {
	s.stacks = make([]stream.StackID, s.from.Stacks.Len()+1)
	var intern func(old stream.StackID)
	intern = func(old stream.StackID) {
		if old == 0 || s.stacks[old] != 0 {
			return
		}
		parent, frame := s.from.Stacks.At(old)
		intern(parent)
		s.stacks[old] = s.to.Stacks.Intern(s.stacks[parent], s.frames[frame])
	}
	for _, i := range s.r.Perm(s.from.Stacks.Len()) {
		intern(stream.StackID(i + 1))
	}
}

// shuffle interns all rows of from into to in any order, with the ids in them made new.
func shuffle[K any, ID ~int32](s *shuffler, to, from interface {
	Intern(K) ID
	At(ID) K
	Len() int
}, renew func(K) K) []ID {
	ids := make([]ID, from.Len()+1)
	for _, i := range s.r.Perm(from.Len()) {
		old := ID(i + 1)
		ids[old] = to.Intern(renew(from.At(old)))
	}
	return ids
}

func same[K any](k K) K { return k }
