package perf_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"gprof/stream"
)

// If the stacks will not fit, reading ends before any is made, and the error says how
// much memory is enough.
func TestExpectedMemory(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	all := records()
	for i := range uint64(20_000) {
		chain := []uint64{markUser}
		for range 8 {
			chain = append(chain, 0x1000+random.Uint64N(0x1000))
		}
		all = append(all, sampled(clockID, shell, shell, 10_000+i, 500, chain...))
	}
	data := file(all...)
	read := func(memory int64) (stacks int, err error) {
		src, err := open(data)
		if err != nil {
			t.Fatal(err)
		}
		err = stream.Copy(stream.Discard, src, stream.CopyOptions{Memory: memory})
		return src.Tables().Stacks.Len(), err
	}
	stacks, err := read(6 << 20)
	var full *stream.ErrMemory
	if !errors.As(err, &full) || full.Early || stacks != 0 {
		t.Fatalf("%v, when there were %d stacks", err, stacks)
	}
	if stacks, err := read(full.Need); err != nil || stacks < 100_000 || full.Need > 300*int64(stacks) {
		t.Errorf("%d stacks in %d bytes: %v", stacks, full.Need, err)
	}
}
