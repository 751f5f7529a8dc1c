// Package folder keeps the files of an instance: in a directory that others may write, or
// in this process' memory.
package folder

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"gprof/chunks/mapping"
)

// ErrLocked means that another process holds a lock.
var ErrLocked = errors.New("directory belongs to another process")

// Folder is where the files of an instance are made. Files that are opened by [fs.FS] show
// what they hold at that moment.
type Folder interface {
	fs.FS
	Create(name string) (File, error)                        // makes a file that does not exist yet
	Map(name string, size int) (*mapping.Mapping, error)     // likewise, and maps it
	MapSoon(name string, size int) (*mapping.Mapping, error) // likewise, but its space may be reserved later, see [mapping.OfFileSoon]
	Truncate(name string, size int64) error                  // its mapping must be closed
	Rename(from, to string) error                            // replaces to
	Remove(name string) error
}

// File is a file that is being written, such as an [os.File].
type File interface {
	io.Writer
	io.WriterAt
	io.Closer
	Truncate(size int64) error
	Stat() (fs.FileInfo, error)
}

// Dir is the folder at a path.
type Dir string

func (d Dir) path(name string) string { return filepath.Join(string(d), name) }

// Open opens a file for reading. It does not follow links.
func (d Dir) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	open := func() (*os.File, error) { return OpenFile(d.path(name), os.O_RDONLY|OpenCarefully) }
	if name == "." {
		open = func() (*os.File, error) { return os.Open(string(d)) }
	}
	f, err := open()
	if err != nil {
		return nil, err // and no *os.File
	}
	return f, nil
}

// Create makes a file that is as open to others as the directory.
func (d Dir) Create(name string) (File, error) {
	f, err := Create(d.path(name))
	if err != nil {
		return nil, err // and no *os.File
	}
	return f, nil
}

// Map makes a file and maps it. The descriptor is closed again, as the host may have few.
// On an error nothing is left behind.
func (d Dir) Map(name string, size int) (*mapping.Mapping, error) {
	f, err := Create(d.path(name))
	if err != nil {
		return nil, err
	}
	m, err := mapping.OfFile(f, size)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("%s of %d bytes: %w", name, size, err), RemoveFile(d.path(name)))
	}
	return m, nil
}

// MapSoon is Map, but space for the file may be reserved later.
func (d Dir) MapSoon(name string, size int) (*mapping.Mapping, error) {
	f, err := Create(d.path(name))
	if err != nil {
		return nil, err
	}
	m, err := mapping.OfFileSoon(f, size)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s of %d bytes: %w", name, size, err), RemoveFile(d.path(name)))
	}
	return m, nil
}

// Truncate cuts a file short.
func (d Dir) Truncate(name string, size int64) error {
	f, err := OpenFile(d.path(name), os.O_RDWR|OpenCarefully)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(size), f.Close())
}

// Rename gives a file another name.
func (d Dir) Rename(from, to string) error { return RenameFile(d.path(from), d.path(to)) }

// Remove removes a file.
func (d Dir) Remove(name string) error { return RemoveFile(d.path(name)) }

// InstanceName is the name of an instance's directory, and of the instance in texts.
func InstanceName(instance uint64) string { return fmt.Sprintf("%016x", instance) }

// InstanceOf returns the instance that a directory is named after.
func InstanceOf(name string) (uint64, bool) {
	id, err := strconv.ParseUint(name, 16, 64)
	return id, err == nil && id != 0 && InstanceName(id) == name
}
