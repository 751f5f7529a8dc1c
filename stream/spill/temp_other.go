//go:build !linux

package spill

import "os"

func create(dir string) (*Temp, error) { return createNamed(dir) }

// reserve does nothing.
func reserve(f *os.File, from, size int64) {}
