package chunks

import (
	"errors"
	"os"
)

// groupWrites is the bit of a directory in which the group may write.
const groupWrites = 0o020

// othersWrite is the bit of everybody else.
const othersWrite = 0o002

// create makes a file that does not exist yet.
func create(path string) (*os.File, error) { return open(path, os.O_EXCL) }

// open makes a file for its owner, and for the group where the group may write
// the directory: who may replace a file may as well write it. So one decision,
// the directory's mode, serves all who write there, whatever their umask is.
func open(path string, flags int) (*os.File, error) {
	dir, err := parentMode(path)
	if err != nil {
		return nil, err
	}
	f, err := openFile(path, os.O_RDWR|os.O_CREATE|flags)
	if err != nil || dir&groupWrites == 0 {
		return f, err
	}
	if err := f.Chmod(0o660); err != nil {
		return nil, errors.Join(err, f.Close(), removeFile(path))
	}
	return f, nil
}

// writeFile makes a file, or another content of it.
func writeFile(path string, content []byte) error {
	f, err := open(path, os.O_TRUNC)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}
