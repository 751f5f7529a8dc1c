package svg_test

import (
	"bytes"
	"fmt"
	"log"
	"regexp"

	"gprof/convert"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// Each box of the picture has a tooltip with its name, its samples and its share.
func Example() {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Pid: 7, Name: "shop"})
	p.Main.Sample(1000, b.Stack("main.main", "main.work"))
	p.Main.Sample(2000, b.Stack("main.main", "main.pack"))

	format, options, err := convert.ByName("shop.svg")
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
	for _, title := range regexp.MustCompile("<title>(.*?)</title>").FindAllSubmatch(picture.Bytes(), -1) {
		fmt.Printf("%s\n", title[1])
	}
	// Output:
	// all: 2 samples, 100.00 %
	// main.main: 2 samples, 100.00 %
	// main.pack: 1 sample, 50.00 %
	// main.work: 1 sample, 50.00 %
}
