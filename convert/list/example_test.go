package list_test

import (
	"fmt"
	"log"

	"gprof/convert/list"
	"gprof/stream"
	"gprof/stream/filter"
	"gprof/stream/streamtest"
)

// The longest requests come first, with what they tell.
func ExampleNew() {
	b := streamtest.NewBuilder()
	request := b.Event(stream.Event{Name: "request", Fields: []stream.EventField{{Name: "status", Type: stream.Int}}})
	p := b.Process(stream.Process{Instance: 1, Pid: 7, Name: "shop"})
	p.Main.Interval(1000, 20, request, int64(200))
	p.Main.Interval(2000, 50, request, int64(500))
	p.Main.Interval(3000, 30, request, int64(503))

	query, err := filter.ParseQuery("request[status>=500]")
	if err != nil {
		log.Fatal(err)
	}
	sink, err := list.New(query, "longest", 10)
	if err != nil {
		log.Fatal(err)
	}
	if err := stream.Copy(sink, b.Source(), stream.CopyOptions{}); err != nil {
		log.Fatal(err)
	}
	for _, m := range sink.Report.Markers {
		fmt.Println(m.At, m.Took, m.Name, m.Fields)
	}
	// Output:
	// 2000 50 request [{status 500}]
	// 3000 30 request [{status 503}]
}
