package rt

import (
	"crypto/rand"
	"encoding/binary"
)

// Random is a number that nobody can guess. The kernel is asked directly where that works: package crypto/rand takes 50 µs to
// get ready.
func Random() uint64 {
	var b [8]byte
	if !readRandom(b[:]) {
		rand.Read(b[:]) // never fails
	}
	return binary.LittleEndian.Uint64(b[:])
}
