package stream

// Sink writes events in some format.
type Sink interface {
	// Begin is called once, before any segment, with final ids. The tables
	// stay valid and unchanged until Close returns.
	Begin(t *Tables) error
	// Segment gets at most 8,192 rows at a time and must not change them. They come in
	// this order: by part of time, of which there is only one unless the Source was
	// split; by process; within a process by track, the main track (Track.Main) first;
	// then rows of no track. Within a track: samples, then waits, then measurements
	// measure by measure, then markers event by event, then delays, then allocations. A
	// series may come in many segments, each sorted by (Time, Index), and none begins
	// before the end of the last.
	Segment(b *Batch) error
	// Close finishes the output; it is not called after an error.
	Close() error
}

// Discard is a Sink that ignores all that it gets.
var Discard Sink = discard{}

type discard struct{}

func (discard) Begin(*Tables) error { return nil }

func (discard) Segment(*Batch) error { return nil }

func (discard) Close() error { return nil }

// tee is several sinks as one.
type tee []Sink

// Tee returns a Sink that passes all calls on to each of sinks, in turn. The first error
// ends the call.
func Tee(sinks ...Sink) Sink { return tee(sinks) }

func (t tee) Begin(tables *Tables) error {
	return t.each(func(s Sink) error { return s.Begin(tables) })
}

// Needs implements [Summer]: of sinks that are none, all rows are needed.
func (t tee) Needs(k Kind, tables *Tables) (need Need) {
	for i, s := range t {
		of, ok := summer(s)
		if !ok {
			return NeedsRows
		}
		if one := of.Needs(k, tables); i == 0 || one < need {
			need = one
		}
	}
	return need
}

// Sums implements [Summer].
func (t tee) Sums(sums *Sums) error {
	return t.each(func(s Sink) error {
		if of, ok := summer(s); ok {
			return of.Sums(sums)
		}
		return nil
	})
}

func (t tee) Segment(b *Batch) error {
	return t.each(func(s Sink) error { return s.Segment(b) })
}

func (t tee) Close() error { return t.each(Sink.Close) }

func (t tee) each(call func(Sink) error) error {
	for _, s := range t {
		if err := call(s); err != nil {
			return err
		}
	}
	return nil
}

// Output is a Sink beside others in a [Tee], with a ledger of its own: details that one
// format has no place for are not missing from another.
type Output struct {
	sink   Sink
	tables *Tables // as the sink sees them
}

// NewOutput returns an Output that passes all calls on to s.
func NewOutput(s Sink) *Output { return &Output{sink: s} }

// Begin implements [Sink].
func (o *Output) Begin(t *Tables) error {
	o.tables = t.branch()
	return o.sink.Begin(o.tables)
}

// Segment implements [Sink].
func (o *Output) Segment(b *Batch) error { return o.sink.Segment(b) }

// Close implements [Sink].
func (o *Output) Close() error { return o.sink.Close() }

// Ledger is what is missing from this output or uncertain in it: the lines of the
// recording and those that the sink added. It is complete after Close, and must not be
// asked for before Begin.
func (o *Output) Ledger() *Ledger { return &o.tables.Ledger }

// Added returns the lines of Ledger that the sink added, in its order.
func (o *Output) Added() []Line { return o.tables.Ledger.own() }

// branch returns tables with the rows of t and a ledger of their own, which begins with
// the lines of that of t. They are for reading.
func (t *Tables) branch() *Tables {
	b := &Tables{Processes: t.Processes, Counters: t.Counters, Events: t.Events, Categories: t.Categories,
		Modules: t.Modules, Strings: t.Strings, Frames: t.Frames, Stacks: t.Stacks, Labels: t.Labels, Ledger: t.Ledger.branch(), mappings: t.mappings, imported: t.imported, kinds: t.kinds, waiting: t.waiting, goroutines: t.goroutines, cpu: t.cpu, budget: t.budget}
	b.Tracks.set = t.Tracks.set
	return b
}
