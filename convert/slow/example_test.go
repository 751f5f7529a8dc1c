package slow_test

import (
	"fmt"
	"log"

	"gprof/convert/slow"
	"gprof/stream"
)

// Of requests that wait for a lock the trace tells for how long.
func ExampleNew() {
	w := newWorld()
	for i := range int64(10) {
		w.interval(1, i*1000, 100+i, "/", i)
		w.states(1, i*1000, "running", 100, "waiting: sync", int(i))
	}
	query, err := slow.Default("request[duration>=p100]")
	if err != nil {
		log.Fatal(err)
	}
	sink := slow.New(slow.Options{Query: query})
	if err := stream.Copy(sink, w.Source(), stream.CopyOptions{}); err != nil {
		log.Fatal(err)
	}
	for _, p := range sink.Report.Split {
		if p.Slow.Sum() > 0 {
			fmt.Println(p.Name, p.Slow.Sum())
		}
	}
	// Output:
	// CPU 100
	// locks 9
}
