package png_test

import (
	"bytes"
	"fmt"
	"image/png"
	"log"

	"gprof/convert"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// The picture is as wide as that of package svg, and as high as its stacks are deep.
func Example() {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Pid: 7, Name: "shop"})
	p.Main.Sample(1000, b.Stack("main.main", "main.work"))

	format, options, err := convert.ByName("shop.png")
	if err != nil {
		log.Fatal(err)
	}
	var picture bytes.Buffer
	sink, err := format.New(&picture, options)
	if err != nil {
		log.Fatal(err)
	}
	if err := stream.Copy(sink, b.Source(), stream.CopyOptions{}); err != nil {
		log.Fatal(err)
	}
	config, err := png.DecodeConfig(&picture)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(config.Width)
	// Output:
	// 1600
}
