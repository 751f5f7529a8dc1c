package ingest

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"gprof/chunks"
)

// Inspect writes the text twin of a file, or of all recording's files below a
// directory, as a txtar archive.
func Inspect(w io.Writer, input string) error {
	info, err := os.Stat(input)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return inspectFile(w, input)
	}
	n := 0
	err = filepath.WalkDir(input, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !isRecordFile(e.Name()) {
			return err
		}
		n++
		rel, err := filepath.Rel(input, name)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "-- %s --\n", filepath.ToSlash(rel))
		return inspectFile(w, name)
	})
	if err == nil && n == 0 {
		err = fmt.Errorf("%s: %w in this directory", input, ErrNothing)
	}
	return err
}

// isRecordFile reports whether a file of that name has a text twin.
func isRecordFile(name string) bool { return chunks.Named(name) != chunks.NoFile }

func inspectFile(w io.Writer, name string) error {
	return chunks.Inspect(w, os.DirFS(filepath.Dir(name)), filepath.Base(name))
}
