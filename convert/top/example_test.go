package top_test

import (
	"fmt"
	"log"

	"gprof/convert/top"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// The functions that took most come first.
func ExampleNew() {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Pid: 7, Name: "shop"})
	p.Main.Sample(1000, b.Stack("main.main", "main.work"))
	p.Main.Sample(2000, b.Stack("main.main", "main.work", "main.pack"))
	p.Main.Sample(3000, b.Stack("main.main", "main.work", "main.pack"))

	sink, err := top.New("function", top.Auto)
	if err != nil {
		log.Fatal(err)
	}
	if err := stream.Copy(sink, b.Source(), stream.CopyOptions{}); err != nil {
		log.Fatal(err)
	}
	for _, row := range sink.Table.Rows {
		fmt.Println(row.Name, row.Self.Samples, row.Total.Samples)
	}
	// Output:
	// main.pack 2 2
	// main.work 1 3
	// main.main 0 3
}
