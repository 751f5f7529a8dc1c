package gecko

import (
	"strings"
	"testing"

	"gprof/stream"
)

// A process whose main thread was registered while the profiler ran began then; the stack
// of a marker that was captured at another time is told, and the time that is lost.
func TestBegunLater(t *testing.T) {
	const text = `{"meta":{"version":36,"startTime":1000,"profilingStartTime":1,"categories":[]},"libs":[],"threads":[{"name":"GeckoMain","pid":1,"tid":1,"registerTime":2.5,
 "samples":{"schema":{"stack":0,"time":1},"data":[]},"frameTable":{"schema":{"location":0},"data":[[0]]},"stackTable":{"schema":{"prefix":0,"frame":1},"data":[[null,0]]},"stringTable":["f"],
 "markers":{"schema":{"name":0,"startTime":1,"endTime":2,"phase":3,"category":4,"data":5},"data":[
  [0,4,null,0,0,{"type":"a","stack":{"samples":{"schema":{"stack":0,"time":1},"data":[[0,4]]}}}],
  [0,5,null,0,0,{"type":"a","stack":{"samples":{"schema":{"stack":0,"time":1},"data":[[0,3]]}}}]]}}]}`
	p, err := Open(strings.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	if start := p.Processes()[0].Start; start != 1002_500_000 {
		t.Errorf("it began at %d ns", start)
	}
	var got stream.Count
	if err := stream.Copy(&got, sourceOf(t, text, 1), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	lines := got.Tables.Ledger.Lines()
	if len(lines) != 1 || lines[0].What != "times of the stacks of markers" || lines[0].Count != 1 {
		t.Errorf("ledger %+v", lines)
	}
}
