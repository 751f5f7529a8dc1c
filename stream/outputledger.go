package stream

// Output is a Sink that stands beside others in a [Tee] and has a ledger of its
// own: what has no place in one format is not missing from another.
type Output struct {
	sink   Sink
	tables *Tables // as the sink sees them
}

// NewOutput returns an Output that gives all it is given to s.
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

// Ledger is what is missing from this output or uncertain in it: what is so in
// the recording, and what the sink added. It is complete after Close; before
// Begin there is none.
func (o *Output) Ledger() *Ledger { return &o.tables.Ledger }

// Added returns the lines of Ledger that the sink added, in its order.
func (o *Output) Added() []Line { return o.tables.Ledger.own() }

// branch returns tables that are t, for a reader, but for a ledger of their own
// that begins as that of t.
func (t *Tables) branch() *Tables {
	return &Tables{Processes: t.Processes, Tracks: t.Tracks, Counters: t.Counters, Events: t.Events, Categories: t.Categories,
		Modules: t.Modules, Strings: t.Strings, Frames: t.Frames, Stacks: t.Stacks, Labels: t.Labels, Ledger: t.Ledger.branch(), mappings: t.mappings, kinds: t.kinds, goroutines: t.goroutines, cpu: t.cpu, room: t.room}
}
