package folded_test

import (
	"log"
	"os"

	"gprof/convert"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// Equal stacks of a track become one line, with the number of their samples.
func Example() {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Pid: 7, Name: "shop"})
	worker := p.Track("worker")
	worker.Sample(1000, b.Stack("main.main", "main.work"))
	worker.Sample(2000, b.Stack("main.main", "main.work"))
	worker.Sample(3000, b.Stack("main.main", "main.pack"))

	format, options, err := convert.ByName("shop.folded")
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
	// shop · pid 7;worker;main.main;main.pack 1
	// shop · pid 7;worker;main.main;main.work 2
}
