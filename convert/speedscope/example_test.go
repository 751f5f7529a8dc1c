package speedscope_test

import (
	"log"
	"os"

	"gprof/convert"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// A track becomes a profile; neighboring samples of one stack are one.
func Example() {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Pid: 7, Name: "shop", Interval: 1e6})
	worker := p.Track("worker")
	worker.Sample(1000, b.Stack("main.main", "main.work"))
	worker.Sample(2000, b.Stack("main.main", "main.work"))
	worker.Sample(3000, b.Stack("main.main", "main.pack"))

	format, options, err := convert.ByName("shop.speedscope.json")
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
	// {"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"gprof","name":"shop · pid 7","shared":{"frames":[{"name":"main.main"},{"name":"main.pack"},{"name":"main.work"}]},"profiles":[{"type":"sampled","name":"shop · pid 7 · worker","unit":"nanoseconds","startValue":0,"endValue":3000000,"samples":[[0,2],[0,1]],"weights":[2000000,1000000]}],"activeProfileIndex":0}
}
