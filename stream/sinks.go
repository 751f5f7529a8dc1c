package stream

// Discard is a Sink that does nothing with what it is given.
var Discard Sink = discard{}

type discard struct{}

func (discard) Begin(*Tables) error  { return nil }
func (discard) Segment(*Batch) error { return nil }
func (discard) Close() error         { return nil }

// tee is several sinks as one.
type tee []Sink

// Tee returns a Sink that gives all it is given to each of sinks, in turn. The
// first error ends the call.
func Tee(sinks ...Sink) Sink { return tee(sinks) }

func (t tee) Begin(tables *Tables) error {
	return t.each(func(s Sink) error { return s.Begin(tables) })
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
