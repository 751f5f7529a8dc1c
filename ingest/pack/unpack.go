package pack

import (
	"cmp"
	"errors"
	"fmt"
	"gprof/chunks/sections"
	"io/fs"
	"os"
	"path/filepath"
)

// Unpack writes the files of a process into a folder of dir, which must exist:
// each as it was packed, bit for bit. It writes over nothing, and the folder
// gets its name when it is whole. A file that cannot be read is told to report,
// which may be nil, and left out; the error is the disk's.
//
// The names are those that a recorder gives, and no others: nothing is written
// outside of dir.
func Unpack(dir string, p Process, report func(error)) error {
	if report == nil {
		report = func(error) {}
	}
	files, err := p.list(report)
	if err != nil {
		report(err)
		return nil
	}
	to := filepath.Join(dir, instanceName(p.Instance))
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return cmp.Or(err, error(&fs.PathError{Op: "unpack", Path: to, Err: fs.ErrExist}))
	}
	at, err := os.MkdirTemp(dir, ".unpack-")
	if err != nil {
		return err
	}
	if err = p.copyTo(at, files, report); err == nil {
		err = os.Rename(at, to)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(at))
	}
	return nil
}

// copyTo writes the files that can be read.
func (p *Process) copyTo(dir string, files []file, report func(error)) error {
	for _, f := range files {
		data, err := p.read(f)
		if err != nil {
			report(fmt.Errorf("%s: %w", p.where(sections.FileName(f.kind, f.number)), err))
			continue
		}
		if err := writeNew(filepath.Join(dir, sections.FileName(f.kind, f.number)), data); err != nil {
			return err
		}
	}
	return nil
}

// writeNew writes a file that must not exist.
func writeNew(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
