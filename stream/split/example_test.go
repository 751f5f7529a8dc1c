package split_test

import (
	"fmt"
	"log"

	"gprof/stream"
	"gprof/stream/split"
	"gprof/stream/streamtest"
)

// Each process gets an output of its own. Here nothing is written to it.
func ExampleSink() {
	b := streamtest.NewBuilder()
	for i, name := range []string{"shop", "mill"} {
		p := b.Process(stream.Process{Instance: uint64(i + 1), Pid: i + 1, Name: name})
		p.Main.Sample(1000, b.Stack("main.main"))
	}
	sink := &split.Sink{Open: func(part split.Part) (stream.Sink, error) {
		fmt.Println("an output for", part.Process.Name)
		return stream.Discard, nil
	}}
	if err := stream.Copy(sink, b.Source(), stream.CopyOptions{}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(sink.Count(), "outputs")
	// Output:
	// an output for shop
	// an output for mill
	// 2 outputs
}
