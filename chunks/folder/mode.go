package folder

import (
	"errors"
	"os"
)

// GroupWrites is the bit of a directory in which the group may write.
const GroupWrites = 0o020

// othersWrite is the bit of everybody else.
const othersWrite = 0o002

// Create makes a file that does not exist yet. Its owner can read and write it, and so can
// the group if it may write the directory, because a process that may replace a file may
// as well write it. So the mode of the directory decides for all who write there,
// whatever their umask is.
func Create(path string) (*os.File, error) {
	f, dir, err := makeFile(path)
	if err != nil || dir&GroupWrites == 0 {
		return f, err
	}
	if err := f.Chmod(0o660); err != nil {
		return nil, errors.Join(err, f.Close(), RemoveFile(path))
	}
	return f, nil
}
