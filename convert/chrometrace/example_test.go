package chrometrace_test

import (
	"log"
	"os"

	"gprof/convert"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// An interval is a complete event, times are in microseconds.
func Example() {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Pid: 7, Name: "shop", Start: 1_000_000, End: 9_000_000})
	p.Track("worker").Interval(1_002_000, 500, b.Event(stream.Event{Name: "order", Fields: []stream.EventField{{Name: "items", Type: stream.Int}}}), 3)

	format, options, err := convert.ByName("shop.trace.json")
	if err != nil {
		log.Fatal(err)
	}
	sink, err := format.New(os.Stdout, options)
	if err != nil {
		log.Fatal(err)
	}
	if err := stream.Copy(sink, b.Source(), stream.CopyOptions{}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// {"displayTimeUnit":"ns","baseTimeNanoseconds":1000000,"traceEvents":[{"ph":"M","pid":7,"name":"process_name","args":{"name":"shop"}},
	// {"ph":"M","pid":7,"name":"process_labels","args":{"labels":"shop · pid 7"}},
	// {"ph":"M","pid":7,"tid":7,"name":"thread_name","args":{"name":"shop"}},
	// {"ph":"M","pid":7,"tid":4194305,"name":"thread_name","args":{"name":"worker"}},
	// {"ph":"X","pid":7,"tid":4194305,"ts":2,"dur":0.5,"name":"order","cat":"Other","args":{"items":3}}],"stackFrames":{},"samples":[],"otherData":{"exporter":"gprof","startTime":"1970-01-01T00:00:00.001Z","processes":[{"pid":7,"instance":"0000000000000001","program":"shop","true pid":"7","start":0,"end":8000000}],"ledger":{}}}
}
