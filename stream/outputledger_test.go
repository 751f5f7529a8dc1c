package stream_test

import (
	"errors"
	"fmt"
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
	first, second := stream.NewOutput(&loser{Sink: stream.Discard, what: "markers"}), stream.NewOutput(&loser{Sink: stream.Discard, what: "logs"})
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

// The more outputs share the memory, the less of it is for tables, and the error
// says what is enough for all of them.
func TestOutputsShareMemory(t *testing.T) {
	need := func(outputs int) int64 {
		b := streamtest.NewBuilder()
		p := b.Process(stream.Process{Instance: 1})
		for i := range 20_000 {
			p.Main.Sample(stream.Time(i), b.Stack("main", fmt.Sprint("function ", i)))
		}
		var tooMuch *stream.ErrMemory
		if err := stream.Copy(stream.Discard, b.Source(), stream.CopyOptions{Memory: 1 << 20, Outputs: outputs}); !errors.As(err, &tooMuch) {
			t.Fatalf("%d outputs: %v", outputs, err)
		}
		if tooMuch.Have != 1<<20 {
			t.Errorf("has %d bytes", tooMuch.Have)
		}
		return tooMuch.Need
	}
	one, four := need(1), need(4)
	if four < one*3/2 || four > one*5/2 {
		t.Errorf("one output needs %d bytes, four need %d, want about twice as much", one, four)
	}
}
