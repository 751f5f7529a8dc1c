package gecko

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"gprof/convert/internal/pipeline"
	"gprof/stream"
	"gprof/stream/streamtest"
)

func newSink(w io.Writer) stream.Sink { return sinkOf(w, pipeline.Options{Jobs: 2}) }

func sinkOf(w io.Writer, o pipeline.Options) stream.Sink {
	out, err := pipeline.New(w, o)
	if err != nil {
		panic(err)
	}
	return New(out, "")
}

func TestSink(t *testing.T) { streamtest.TestSink(t, newSink, check) }

// crowd is threads of all sizes: some are written at once, some in pieces on
// other cores.
func crowd(b *streamtest.Builder) {
	p := b.Process(stream.Process{Instance: 1, Name: "shop", Start: begin, End: begin + 1000*second})
	for i := range 3000 {
		p.Main.Sample(begin+stream.Time(i)*milli, b.Stack("main", fmt.Sprint("g", i)))
	}
	e := b.Event(stream.Event{Name: "note", Fields: []stream.EventField{
		{Name: "number", Type: stream.Int, Format: stream.FormatInteger},
		{Name: "word", Type: stream.Text, Format: stream.FormatString},
	}})
	for i := range 20 {
		track := p.Track(fmt.Sprint("worker ", i))
		stack := b.Stack("main", fmt.Sprint("f", i))
		for k := range i * i * 6 {
			at := begin + stream.Time(k)*milli
			track.Add(streamtest.Row{Time: at, Stack: stack, Weight: int64(k % 7), CPU: int64(k%3) - 1})
			track.Mark(at, stream.Instant, e, "no number", fmt.Sprint("word ", k%i))
		}
	}
	p.Track("idle for long").Add(streamtest.Row{Time: begin, Stack: b.Stack("sleep"), Weight: 1 << 40, CPU: 5})
}

// The bytes do not depend on the number of cores, and neither does the ledger.
func TestJobs(t *testing.T) {
	builder := streamtest.NewBuilder()
	crowd(builder)
	var in record
	if err := stream.Copy(&in, builder.SourceOf(8192), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, zip := range []bool{false, true} {
		var one bytes.Buffer
		in.tables.Ledger = stream.Ledger{}
		in.write(t, sinkOf(&one, pipeline.Options{Gzip: zip}))
		if !zip {
			check(t, one.Bytes())
		}
		if n := len(in.tables.Ledger.Lines()); n != 2 {
			t.Errorf("%d lines in the ledger, want one of samples and one of arguments", n)
		}
		for _, jobs := range []int{2, 5} {
			var many bytes.Buffer
			in.tables.Ledger = stream.Ledger{}
			in.write(t, sinkOf(&many, pipeline.Options{Gzip: zip, Jobs: jobs}))
			if !bytes.Equal(one.Bytes(), many.Bytes()) {
				t.Errorf("gzip %v: %d jobs write %d bytes, one writes %d others", zip, jobs, many.Len(), one.Len())
			}
		}
	}
}
