package compare

import (
	"cmp"
	"slices"
	"strings"

	"gprof/convert/internal/calls"
	"gprof/convert/internal/durations"
	"gprof/stream"
)

// Set is a set of recordings, summed up.
type Set struct {
	of        Basis
	processes []process
	functions []string // by calls.Key
	markers   []string
	stacks    stacks

	withoutStacks bool // there was no memory for them
}

// process is what one process did.
type process struct {
	instance uint64
	program  string // service, or name
	version  string
	taken    string // how samples were taken
	machine  string // architecture and processor
	compiler string // version of Go
	slowed   string // by what its build adds
	failed   bool   // it crashed, was killed, or had an exit status
	unseen   bool   // its end was not recorded: it was killed, or still ran
	host     string
	start    stream.Time
	end      stream.Time
	seconds  float64
	cpu      float64 // seconds that the system counted, 0 unknown
	interval float64 // seconds between samples, 0 unknown
	all      calls.Amount
	sums     []calls.Sum
	own      []nodeSum // of the stacks
	markers  []markerSum
	counters []counterSum
}

// markerSum is the markers of one name.
type markerSum struct {
	name int // index of Set.markers
	durations.Markers
}

// Sink makes a Set. It holds sums by process and function, and by process and marker name, which
// don't grow with rows.
type Sink struct {
	Set *Set // whole once Close has returned

	// Of is what the set is to be compared by, if that is the heap or waits; else "". Set it before
	// Begin.
	Of Basis

	// Stacks has the sink fail if there is too little memory for the samples of each process by their stacks, without
	// which there is no [Options.Tree], and functions that were renamed or divided are not found. Set it before Begin.
	Stacks bool

	from, to    stream.Time
	tables      *stream.Tables
	sums        *calls.Sums
	names       *calls.Names // of markers
	meter       calls.Meter
	merged      *merger // nil: no stacks are kept
	spans       durations.Names
	event       stream.Series // of the markers in spans
	reading     reading
	id          stream.ProcessID
	now         process
	at          map[int]int // where the markers of a name are in now
	first, last stream.Time // of the process' rows; 0 none
	sliced      map[string]bool
}

// New returns a Sink of the events from from on and before to: rates are those
// of that time.
func New(from, to stream.Time) *Sink {
	return &Sink{Set: new(Set), from: from, to: to, at: map[int]int{}}
}

// Begin prepares for the functions of t.
func (s *Sink) Begin(t *stream.Tables) error {
	keys, functions := calls.Keys(t, calls.SameFunction)
	s.tables, s.names, s.sliced = t, calls.NewNames(), map[string]bool{}
	for _, l := range t.Ledger.Lines() {
		s.sliced[l.Process] = s.sliced[l.Process] || l.Reason == stream.ReasonLeftOut
	}
	var err error
	if s.sums, err = calls.New(t, keys); err != nil {
		return err
	}
	s.Set.functions, s.Set.of = functions.All, s.Of
	if s.Of.valued() { // else all samples are kept, until it is clear what the other set has
		s.meter.Of = calls.Basis(s.Of)
	}
	s.meter.Give = func(at calls.Place, a calls.Amount) { s.sums.AddAmount(at.Stack, a) }
	if err = s.meter.Begin(t); err != nil {
		return err
	}
	if s.merged, err = newMerger(s.Set, t, keys); err != nil {
		return s.withoutStacks(err)
	}
	s.sums.Each = s.merged.add
	return nil
}

// withoutStacks goes on without stacks, if they are not needed. The error says why.
func (s *Sink) withoutStacks(err error) error {
	if s.Stacks {
		return err
	}
	s.merged, s.sums.Each = nil, nil
	s.Set.stacks, s.Set.withoutStacks = stacks{}, true
	for i := range s.Set.processes {
		s.Set.processes[i].own = nil
	}
	return nil
}

// Segment adds the rows of b.
func (s *Sink) Segment(b *stream.Batch) error {
	if b.Len() == 0 {
		return nil
	}
	if b.Series.Process != s.id {
		if err := s.endProcess(); err != nil {
			return err
		}
		s.id = b.Series.Process
	}
	s.see(b)
	switch b.Series.Kind {
	case stream.Samples, stream.Waits, stream.Allocations:
		s.meter.Add(b)
	case stream.Markers:
		s.mark(b)
	case stream.Counts:
		s.count(b)
	}
	return nil
}

func (s *Sink) see(b *stream.Batch) {
	if b.Series.Kind == stream.Pages {
		return // they come from whenever the page was opened
	}
	first, last := b.Time[0], b.Time[b.Len()-1]
	if s.first == 0 || first < s.first {
		s.first = first
	}
	s.last = max(s.last, last)
}

func (s *Sink) mark(b *stream.Batch) {
	if b.Series != s.event {
		s.endEvent()
		s.event = b.Series
	}
	s.spans.Add(b, s.tables.Event(b.Series.Event))
}

func (s *Sink) endEvent() {
	if s.event.Event == 0 {
		return
	}
	s.spans.Take(s.tables.Event(s.event.Event), s.addMarkers)
	s.event = stream.Series{}
}

func (s *Sink) addMarkers(called string, m durations.Markers) {
	name := int(s.names.Intern(called))
	i, ok := s.at[name]
	if !ok {
		i = len(s.now.markers)
		s.at[name] = i
		s.now.markers = append(s.now.markers, markerSum{name: name})
	}
	s.now.markers[i].Add(m)
}

// endProcess adds a process with rows to the set. The error is a [stream.ErrMemory].
func (s *Sink) endProcess() (err error) {
	if s.id == 0 {
		return nil
	}
	s.endEvent()
	s.endCounter()
	s.meter.End()
	p := s.tables.Process(s.id)
	s.now.program, s.now.version = cmp.Or(p.Service, p.Name), p.Version
	s.now.taken, s.now.machine = p.CPU, strings.TrimSpace(p.Machine()+" "+p.CPUName)
	s.now.seconds, s.now.interval = s.seconds(p), max(0, float64(p.Interval)/1e9)
	s.now.compiler, s.now.slowed = p.Go, cmp.Or(strings.Join(p.SlowedBy, " "), "nothing")
	s.now.failed, s.now.unseen = p.Exit.Failed(), !p.Exit.Known
	s.now.instance = p.Instance
	s.now.host, s.now.start, s.now.end = p.Host, p.Start, max(p.End, s.last)
	s.now.all = s.sums.All
	s.now.sums = slices.Clone(s.sums.Take())
	if s.merged != nil {
		if s.now.own, err = s.merged.take(); err != nil {
			err = s.withoutStacks(err)
		}
	}
	s.Set.processes = append(s.Set.processes, s.now)
	s.now, s.first, s.last = process{}, 0, 0
	clear(s.at)
	return err
}

// seconds is the time with events of a process. Its ring may have lost the beginning, and a slice both ends.
func (s *Sink) seconds(p *stream.Process) float64 {
	from, to := p.Start, max(p.End, s.last)
	sliced := s.sliced[p.InstanceName()]
	if p.RangeStart > 1 || sliced {
		from = s.first
	}
	if sliced {
		to = s.last
	}
	from, to = max(from, s.from), min(to, s.to)
	return max(0, float64(to-from)/1e9)
}

// Close makes the set whole.
func (s *Sink) Close() error {
	err := s.endProcess()
	s.Set.markers = s.names.All
	return err
}
