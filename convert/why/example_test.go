package why_test

import (
	"fmt"
	"log"

	"gprof/convert/why"
	"gprof/stream"
)

// A program whose heap grows until it is killed.
func ExampleNew() {
	s := newStory(stream.Exit{Known: true, Reason: "killed", Code: 9})
	for n := range ticks {
		s.level(n, "heap live", float64(10+n*5)*(1<<20))
		s.p.Main.Allocate(at(n), stream.Instant, s.Stack("main.main", "main.keep"), 5<<20, 10)
	}

	sink := why.New(why.Options{})
	if err := stream.Copy(sink, s.Source(), stream.CopyOptions{}); err != nil {
		log.Fatal(err)
	}
	for _, f := range sink.Report.Findings {
		fmt.Printf("%v: %s\n", f.Severity, f.Text)
	}
	// Output:
	// cause: the heap grew to the end, from 22 MiB to 505 MiB: 100 % of it was allocated by main.keep
}
