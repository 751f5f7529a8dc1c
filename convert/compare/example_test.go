package compare_test

import (
	"fmt"
	"log"

	"gprof/convert/compare"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// sum sums up a run of one process with so many samples of a function beside one of main.
func sum(samples int) *compare.Set {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Pid: 7, Name: "shop"})
	p.Main.Sample(1000, b.Stack("main.main"))
	for i := range samples {
		p.Main.Sample(stream.Time(2000+1000*i), b.Stack("main.main", "main.work"))
	}
	sink := compare.New(0, 1_000_000)
	if err := stream.Copy(sink, b.Source(), stream.CopyOptions{}); err != nil {
		log.Fatal(err)
	}
	return sink.Set
}

// A report has the share of each function in both sets. One process in each is
// too few to tell a change from noise.
func ExampleCompare() {
	report, err := compare.Compare(sum(1), sum(3), compare.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range report.Functions {
		fmt.Println(f.Name, f.Self.Base.Value, f.Self.New.Value, f.Self.Found)
	}
	// Output:
	// main.work 0.5 0.75 false
	// main.main 0.5 0.25 false
}
