//go:build !windows

package chunks

import "os"

// mappedKeepsName: nobody can remove or replace a file that is mapped.
const mappedKeepsName = false

// openFile opens a file; one that is made is its owner's.
func openFile(path string, flags int) (*os.File, error) { return os.OpenFile(path, flags, 0o600) }
