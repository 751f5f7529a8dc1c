package ring

import (
	"fmt"
	"testing"

	"gprof/chunks/folder"
)

// The cost of a new chunk to a writer when the ring is full.
//
//	go -C chunks test ./ring -run '^$' -bench Swap -count 10
func BenchmarkSwap(b *testing.B) {
	for _, file := range []int{64 << 10, 256 << 10} {
		b.Run(fmt.Sprintf("file=%d", file), func(b *testing.B) {
			o := testOptions(0)
			o.ChunkFile, o.Limit = file, 32*int64(file)
			r, err := Open(folder.Dir(b.TempDir()), o)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				r.Release(mustGet(b, r, 1))
			}
			if err := r.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// The cost of a chunk of full pages to the housekeeper.
//
//	go -C chunks test ./ring -run '^$' -bench Seal -count 10
func BenchmarkSeal(b *testing.B) {
	c := fileChunk(make([]byte, 256<<10))
	c.fixed.Epoch = 1
	for c.open(); int(c.Header().Commit.Offset()) < len(c.payload)-30; {
		putBlocks(c, 30)
	}
	b.SetBytes(int64(c.Header().Commit.Offset()))
	for b.Loop() {
		c.ring.seal = progress{}
		if err := c.seal(true); err != nil {
			b.Fatal(err)
		}
	}
}
