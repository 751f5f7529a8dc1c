package ingest

import (
	"io/fs"
	"os"
	"path/filepath"

	"gprof/chunks"
)

// disk is a directory on disk.
type disk struct {
	dirFS
	dir string
}

// dirFS is what [os.DirFS] returns.
type dirFS interface {
	fs.StatFS
	fs.ReadDirFS
}

func newDisk(dir string) disk { return disk{os.DirFS(dir).(dirFS), dir} }

// OpenRegular implements [chunks.RegularOpener]. It asks what a file is when it is open, because a dump has many small
// files: flags see to it that a pipe does not block, and that no link leads to a device, where opening alone may do
// something. Links are followed the long way.
func (d disk) OpenRegular(name string) (f fs.File, size int64, err error) {
	if openCarefully != 0 && fs.ValidPath(name) {
		if f, err := os.OpenFile(filepath.Join(d.dir, filepath.FromSlash(name)), os.O_RDONLY|openCarefully, 0); err == nil {
			info, err := f.Stat()
			if err == nil && info.Mode().IsRegular() {
				return f, info.Size(), nil
			}
			f.Close()
		}
	}
	return chunks.OpenRegular(d.dirFS, name)
}
