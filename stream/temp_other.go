//go:build !linux

package stream

import "os"

// tempFile makes a file in dir.
func tempFile(dir string) (f *os.File, name string, err error) { return namedTempFile(dir) }

// reserve does nothing.
func reserve(f *os.File, from, size int64) {}
