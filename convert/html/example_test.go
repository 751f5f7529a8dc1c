package html_test

import (
	"bytes"
	"fmt"
	"log"

	"gprof/convert"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// The page is one file: it has its data in it, and loads nothing.
func Example() {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Pid: 7, Name: "shop"})
	p.Main.Sample(1000, b.Stack("main.main", "main.work"))

	format, options, err := convert.ByName("shop.html")
	if err != nil {
		log.Fatal(err)
	}
	var page bytes.Buffer
	sink, err := format.New(&page, options)
	if err != nil {
		log.Fatal(err)
	}
	if err := stream.Copy(sink, b.Source(), stream.CopyOptions{}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(bytes.Contains(page.Bytes(), []byte("main.work")), bytes.Contains(page.Bytes(), []byte("src=")))
	// Output:
	// true false
}
