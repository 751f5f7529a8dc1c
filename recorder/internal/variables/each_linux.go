//go:build linux && (amd64 || arm64) && !gprof_portable && !go1.28

package variables

import (
	"fmt"
	"unsafe"

	"gprof/recorder/internal/modules"
	"gprof/recorder/internal/rt"
)

// maxSize bounds the search, in bytes.
const maxSize = 256 << 20

var (
	initialized = [2]uintptr{1, 2} // lies where variables with a value lie
	zeroed      [2]uintptr         // lies where the others do
)

// Each calls do with copies of the pieces of the mappings that have the program's variables, until
// it returns false. Pieces overlap by two words. Do must not keep words. The linker puts large variables
// last, and those of the runtime are 32 MiB: what is small is found much sooner.
func Each(do func(at uintptr, words rt.Memory) bool) error {
	const piece = 64 << 10
	mappings, err := modules.Writable(uintptr(unsafe.Pointer(&initialized)), uintptr(unsafe.Pointer(&zeroed)))
	if err != nil {
		return err
	}
	size := uint64(0)
	for _, m := range mappings {
		size += m.End - m.Start
	}
	if size == 0 || size > maxSize {
		return fmt.Errorf("variables take %d bytes, want at most %d, and some", size, maxSize)
	}
	words := make(rt.Memory, piece/8)
	for _, m := range mappings {
		for at := uintptr(m.Start); at < uintptr(m.End); at += piece - 16 {
			words = words[:min(piece, uintptr(m.End)-at)/8]
			if err := words.Read(at); err != nil {
				return err
			}
			if !do(at, words) {
				return nil
			}
			words = words[:cap(words)]
		}
	}
	return nil
}
