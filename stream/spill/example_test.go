package spill_test

import (
	"fmt"
	"io"
	"log"

	"gprof/stream/spill"
)

// A file is written from its beginning to its end, and read at any place. It lies
// in memory until it is large, and is gone once it is closed.
func ExampleFile() {
	var f spill.File
	fmt.Fprint(&f, "first second ")
	fmt.Fprint(&f, "third")
	text, err := io.ReadAll(io.NewSectionReader(&f, 6, f.Size()-6))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", text)
	fmt.Println(f.Close())
	// Output:
	// second third
	// <nil>
}
