package convert_test

import (
	"log"
	"os"

	"gprof/convert"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// The name of an output tells its format, which makes a sink.
func ExampleByName() {
	format, options, err := convert.ByName("profile.folded")
	if err != nil {
		log.Fatal(err)
	}
	sink, err := format.New(os.Stdout, options)
	if err != nil {
		log.Fatal(err)
	}
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Pid: 7, Name: "shop"})
	p.Main.Sample(1000, b.Stack("main.main", "main.work"))
	if err := stream.Copy(sink, b.Source(), stream.CopyOptions{}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// shop · pid 7;shop;main.main;main.work 1
}
