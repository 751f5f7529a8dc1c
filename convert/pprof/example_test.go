package pprof_test

import (
	"bytes"
	"fmt"
	"log"

	"github.com/google/pprof/profile"

	"gprof/convert"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// The profile has the number of samples and their CPU time, for each stack.
func Example() {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Pid: 7, Name: "shop"})
	p.Main.Add(streamtest.Row{
		Series: stream.Series{Kind: stream.Samples}, Time: 1000,
		Stack: b.Stack("main.main", "main.work"), Weight: 1, CPU: 10_000_000,
	})

	format, options, err := convert.ByFormat("pprof")
	if err != nil {
		log.Fatal(err)
	}
	var out bytes.Buffer
	sink, err := format.New(&out, options)
	if err != nil {
		log.Fatal(err)
	}
	if err := stream.Copy(sink, b.Source(), stream.CopyOptions{}); err != nil {
		log.Fatal(err)
	}
	read, err := profile.Parse(&out)
	if err != nil {
		log.Fatal(err)
	}
	for i, of := range read.SampleType {
		fmt.Println(of.Type, of.Unit, read.Sample[0].Value[i])
	}
	// Output:
	// samples count 1
	// cpu nanoseconds 10000000
}
