package streamtest

import "gprof/stream"

// LossySink is a sink that has no place for something, and tells the ledger so when it is
// closed.
type LossySink struct {
	Loss  stream.Line
	Known []stream.Line // the ledger as it was when the sink began

	ledger *stream.Ledger
}

// Begin implements [stream.Sink].
func (s *LossySink) Begin(t *stream.Tables) error {
	s.ledger, s.Known = &t.Ledger, t.Ledger.Lines()
	return nil
}

// Segment implements [stream.Sink]. It ignores the rows.
func (s *LossySink) Segment(*stream.Batch) error { return nil }

// Close implements [stream.Sink].
func (s *LossySink) Close() error {
	s.ledger.Add(s.Loss)
	return nil
}
