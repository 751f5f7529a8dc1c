package mapping_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"sync/atomic"

	"gprof/chunks/mapping"
)

// A store to a mapped file is in the file at once, whatever becomes of the process.
func ExampleOfFile() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	f, err := os.Create(filepath.Join(dir, "chunk"))
	if err != nil {
		log.Fatal(err)
	}
	m, err := mapping.OfFile(f, os.Getpagesize())
	if err != nil {
		log.Fatal(err)
	}
	f.Close()
	atomic.StoreUint64(mapping.Word(m.Bytes(), 8), 7)

	written, err := os.ReadFile(filepath.Join(dir, "chunk"))
	fmt.Println(written[8:16], err)
	fmt.Println(m.Close())
	// Output:
	// [7 0 0 0 0 0 0 0] <nil>
	// <nil>
}
