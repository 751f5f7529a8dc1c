package stream_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"gprof/stream"
	"gprof/stream/streamtest"
)

// loser is a sink that has no place for something.
type loser struct {
	stream.Sink
	what   string
	known  *[]stream.Line // gets the ledger at the beginning; may be nil
	tables *stream.Tables
}

func (l *loser) Begin(t *stream.Tables) error {
	l.tables = t
	if l.known != nil {
		*l.known = t.Ledger.Lines()
	}
	return l.Sink.Begin(t)
}

func (l *loser) Close() error {
	l.tables.Ledger.Add(stream.Line{Process: "b", Reason: stream.ReasonUnsupported, What: l.what, Count: 2})
	return nil
}

// What one output loses is neither in the ledger of another nor in that of the
// tables; what the recording lost is in all.
func TestApart(t *testing.T) {
	b := streamtest.NewBuilder()
	b.Process(stream.Process{Instance: 1})
	gap := stream.Line{Process: "a", Reason: stream.ReasonGap, What: "chunks", Where: "3", Count: 1, Bytes: 9}
	old := stream.Line{Process: "b", Reason: stream.ReasonUnsupported, What: "logs", Count: 1}
	b.Tables.Ledger.Add(gap)
	b.Tables.Ledger.Add(old)
	first, second := stream.Apart(&loser{Sink: stream.Discard, what: "markers"}), stream.Apart(&loser{Sink: stream.Discard, what: "logs"})
	var count stream.Count
	if err := stream.Copy(stream.Tee(first, &count, second), b.Source(), stream.CopyOptions{Outputs: 2}); err != nil {
		t.Fatal(err)
	}
	markers, logs := old, old
	markers.What, markers.Count = "markers", 2
	logs.Count = 2
	both := old
	both.Count = 3
	for _, tt := range []struct {
		name      string
		got, want []stream.Line
	}{
		{"recording", count.Tables.Ledger.Lines(), []stream.Line{gap, old}},
		{"first", first.Ledger().Lines(), []stream.Line{gap, old, markers}},
		{"first alone", first.Added(), []stream.Line{markers}},
		{"second", second.Ledger().Lines(), []stream.Line{gap, both}},
		{"second alone", second.Added(), []stream.Line{logs}},
	} {
		if diff := cmp.Diff(tt.want, tt.got); diff != "" {
			t.Errorf("%s: -want +got: %s", tt.name, diff)
		}
	}
	if worst, any := first.Ledger().Worst(); worst != stream.Loss || !any {
		t.Errorf("the worst of a branch is %v, %v", worst, any)
	}
}
