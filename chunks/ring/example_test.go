package ring_test

import (
	"fmt"
	"log"
	"sync/atomic"

	"gprof/chunks"
	"gprof/chunks/folder"
	"gprof/chunks/ring"
	"gprof/rawformat"
)

// A writer takes a chunk, stores blocks in it, and commits them with one store. From
// then on a reader finds them.
func ExampleRing() {
	files := folder.NewMemory()
	r, err := ring.Open(files, ring.Options{Instance: 0xe1, Pid: 300, Limit: 1 << 20, MinSpare: 2})
	if err != nil {
		log.Fatal(err)
	}
	chunk := r.Get(1, 1) // for writer 1, with the first generation of the dictionary
	// Each page begins with a block that says where it is.
	sync := fmt.Sprintf("sync index=%d epoch=%d time=1000 goroutine=0 track=0", chunk.RangeStart(), chunk.Epoch())
	written := 0
	for _, text := range []string{sync, "track-start time=100 track=1"} {
		block, err := rawformat.ParseBlock(nil, text)
		if err != nil {
			log.Fatal(err)
		}
		written += copy(chunk.Payload()[written:], rawformat.AppendBlock(nil, block))
	}
	atomic.StoreUint64(chunk.CommitWord(), uint64(rawformat.MakeCommit(uint32(written), 2)))
	r.Release(chunk)
	if err := r.Close(); err != nil {
		log.Fatal(err)
	}

	p, err := chunks.OpenProcess(files, ".")
	if err != nil {
		log.Fatal(err)
	}
	report := func(found chunks.Problem) { fmt.Println(found.Class, found.Where) }
	for blocks := p.Blocks(report); blocks.Next(); {
		fmt.Println(rawformat.Kinds[blocks.Block().Kind].Name)
	}
	// Output:
	// sync
	// track-start
}
