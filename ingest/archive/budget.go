package archive

import (
	"bytes"
	"io"
	"sync/atomic"
)

// Budget bounds what the inputs of a run unpack to, all together. Several
// goroutines may use it. The zero Budget is ready to use.
type Budget struct{ packed, unpacked atomic.Int64 }

// runBytes may be unpacked in a run. Beyond them it is MaxRatio times what its inputs
// have, as it is for each archive.
const runBytes = 1 << 30

// zeroShare is which part of its bytes a run of zeros counts as. Most of a ring may
// be unused, and is unpacked without being read.
const zeroShare = 4

// Spent reports whether the inputs have unpacked to more than a run may.
func (b *Budget) Spent() bool { return b.unpacked.Load() > runBytes+MaxRatio*b.packed.Load() }

// Take counts an archive of packed bytes that unpacks to so many, most of which may
// be zeros.
func (b *Budget) Take(packed, unpacked int64) error {
	m := allowance{budget: b}
	m.see(packed)
	return m.take(unpacked / zeroShare)
}

// allowance is what one archive may unpack to.
type allowance struct {
	budget           *Budget
	packed, unpacked int64
}

// see says how many bytes of the archive were read.
func (a *allowance) see(packed int64) {
	a.budget.packed.Add(packed - a.packed)
	a.packed = packed
}

// take counts bytes that were unpacked.
func (a *allowance) take(n int64) error {
	a.unpacked += n
	a.budget.unpacked.Add(n)
	if a.unpacked > FreeBytes+MaxRatio*a.packed || a.budget.Spent() {
		return ErrBomb
	}
	return nil
}

// allowed ends a stream of unpacked bytes with [ErrBomb] when it has become too much.
type allowed struct {
	r io.Reader
	*allowance
}

func (a *allowed) Read(p []byte) (int, error) {
	n, err := a.r.Read(p)
	if bomb := a.take(weigh(p[:n])); bomb != nil {
		return n, bomb
	}
	return n, err
}

// weigh is as how many bytes p counts.
func weigh(p []byte) int64 {
	if bytes.Count(p, []byte{0}) == len(p) {
		return int64(len(p)) / zeroShare
	}
	return int64(len(p))
}
