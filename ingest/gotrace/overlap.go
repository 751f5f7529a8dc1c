package gotrace

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"io"
)

// Overlap knows the generations of files that were given to it. Snapshots of a
// flight recorder hold some of the same: what its ring held both times.
type Overlap struct{ known map[generationID]bool }

// generationID names a generation: how long it is, and its first bytes, which hold
// times of a clock of nanoseconds.
type generationID [sha256.Size]byte

// identify names the generation that ends before an offset.
func (s *scan) identify(from, to int64) (id generationID, err error) {
	head := binary.BigEndian.AppendUint64(make([]byte, 0, 8+instanceBytes), uint64(to-from))
	n, err := s.r.ReadAt(head[8:8+min(instanceBytes, to-from)], from)
	if err == io.EOF {
		err = nil
	}
	return sha256.Sum256(head[:8+n]), err
}

// Compare says in which order files are to be given to an Overlap: those that
// begin earlier come first, of those that begin together the longer ones.
func Compare(a, b *File) int {
	return cmp.Or(cmp.Compare(a.all[0].first, b.all[0].first), cmp.Compare(len(b.all), len(a.all)), cmp.Compare(a.instance, b.instance))
}

// Trim takes those generations from the front of f that files before it have. If
// they are all that f has it reports false, and f stays as it is.
func (o *Overlap) Trim(f *File) (left bool) {
	if o.known == nil {
		o.known = map[generationID]bool{}
	}
	n := 0
	for n < len(f.all) && o.known[f.all[n].id] {
		n++
	}
	if n == len(f.all) {
		return false
	}
	f.trimmed, f.all = f.all[:n], f.all[n:]
	for i := range f.all {
		o.known[f.all[i].id] = true
	}
	return true
}
