//go:build !unix

package kept

import "io/fs"

// taken is how many bytes a file may take on the disk.
func taken(info fs.FileInfo) int64 { return info.Size() }
