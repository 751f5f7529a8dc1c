package sections_test

import (
	"bytes"
	"fmt"
	"log"

	"gprof/chunks/sections"
)

// Files are written one after the other, each behind a header that says what it is.
func ExampleWriter() {
	var archive bytes.Buffer
	w := sections.NewWriter(&archive)
	w.Process(0xe1, false) // the writer keeps the first error, which Close returns
	w.File(0xe1, "exit", []byte("gprX"))
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	for at := 0; at < archive.Len(); {
		h, err := sections.Read(archive.Bytes()[at:], int64(at))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(h.Kind, h.RawSize)
		at += sections.HeaderSize + int(h.Size)
	}
	// Output:
	// process 16
	// exit 4
	// end 0
}
