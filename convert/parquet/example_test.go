package parquet_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"gprof/convert"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// The output is a directory of tables, whose files lie below service and day.
func Example() {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Pid: 7, Name: "shop"})
	p.Main.Sample(1000, b.Stack("main.main", "main.work"))

	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	format, options, err := convert.ByFormat("parquet")
	if err != nil {
		log.Fatal(err)
	}
	sink := format.NewIn(streamtest.OnDisk(dir), options)
	if err := stream.Copy(sink, b.Source(), stream.CopyOptions{}); err != nil {
		log.Fatal(err)
	}
	days, err := filepath.Glob(filepath.Join(dir, "samples", "*", "*"))
	if err != nil {
		log.Fatal(err)
	}
	for _, day := range days {
		fmt.Println(strings.TrimPrefix(day, dir))
	}
	// Output:
	// /samples/service=shop/date=1970-01-01
}
