package difference_test

import (
	"bytes"
	"fmt"
	"log"

	"gprof/convert/compare"
	"gprof/convert/difference"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// sum sums up processes that each have so many samples of a function beside some of others.
func sum(samples int64) *compare.Set {
	b := streamtest.NewBuilder()
	for i := range 4 {
		p := b.Process(stream.Process{Instance: uint64(i) + 1, Pid: i, Name: "shop"})
		for k, name := range []string{"main.read", "main.write", "main.rank"} {
			n := [3]int64{300, 500, samples}[k] + int64(i)
			p.Main.Add(streamtest.Row{Time: stream.Time(k + 1), Stack: b.Stack("main.main", name), Weight: n, CPU: n * 1e7})
		}
	}
	sink := compare.New(0, 1_000_000)
	sink.Stacks = true
	if err := stream.Copy(sink, b.Source(), stream.CopyOptions{}); err != nil {
		log.Fatal(err)
	}
	return sink.Set
}

// A function that takes twice the time has a colour, and nothing else has.
func ExampleWrite() {
	report, err := compare.Compare(sum(200), sum(400), compare.Options{Tree: true})
	if err != nil {
		log.Fatal(err)
	}
	var picture bytes.Buffer
	if err := difference.Write(&picture, "diff.svg", report); err != nil {
		log.Fatal(err)
	}
	for _, n := range report.Tree.Nodes {
		if n.Mark != compare.Quiet {
			fmt.Printf("%s grew by %.0f %%\n", n.Name, 100**n.Total.Relative)
		}
	}
	fmt.Println(bytes.Count(picture.Bytes(), []byte("#f2994a")), "times orange: in the legend, the base and the new set")
	// Output:
	// main.rank grew by 99 %
	// 3 times orange: in the legend, the base and the new set
}
