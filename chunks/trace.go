package chunks

import (
	"errors"
	"io"
	"io/fs"

	"gprof/chunks/folder"
	"gprof/rawformat"
)

// Trace is the file of a window of Go's execution trace in an instance directory.
type Trace struct {
	Name string // of the file
	Size int64  // bytes
}

// WriteTrace makes the file of the n-th window in a folder. The function write writes it, at
// most limit bytes, beyond which the writer returns [rawformat.ErrTooBig]. The file gets
// its name when it is complete; on an error nothing is left behind.
func WriteTrace(in folder.Folder, n int, limit int64, write func(io.Writer) error) (t Trace, err error) {
	t.Name = TraceFile.FileName(uint32(n))
	f, err := in.Create(t.Name + NewSuffix)
	if err != nil {
		return t, err
	}
	w := &boundedWriter{w: f, room: limit}
	err = errors.Join(write(w), f.Close())
	if err == nil {
		err = in.Rename(t.Name+NewSuffix, t.Name)
	}
	if err != nil {
		return t, errors.Join(err, in.Remove(t.Name+NewSuffix))
	}
	t.Size = limit - w.room
	return t, nil
}

// boundedWriter refuses to write more than there is room for.
type boundedWriter struct {
	w    io.Writer
	room int64
}

func (w *boundedWriter) Write(b []byte) (int, error) {
	if int64(len(b)) > w.room {
		return 0, rawformat.ErrTooBig
	}
	n, err := w.w.Write(b)
	w.room -= int64(n)
	return n, err
}

// RemoveTrace removes a window from a folder. It is not an error if it does not exist.
func RemoveTrace(in folder.Folder, t Trace) error {
	err := in.Remove(t.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
