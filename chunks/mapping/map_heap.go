//go:build !unix

package mapping

import "unsafe"

// heapMemory is memory for systems without anonymous mappings, aligned for words.
func heapMemory(size int) ([]byte, error) {
	words := make([]uint64, (size+7)/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), size), nil
}
