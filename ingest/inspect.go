package ingest

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"gprof/chunks"
	"gprof/ingest/archive"
)

// Inspect writes the text form of a file, or of all recording files below a directory, as a txtar
// archive.
func Inspect(w io.Writer, input string) error {
	info, err := os.Stat(input)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return chunks.Inspect(w, os.DirFS(filepath.Dir(input)), filepath.Base(input))
	}
	files, n := os.DirFS(input), 0
	err = fs.WalkDir(files, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !isRecordFile(e.Name()) {
			return err
		}
		n++
		return inspectSection(w, files, name)
	})
	if err == nil && n == 0 {
		err = fmt.Errorf("%s: %w in this directory", input, ErrNothing)
	}
	return err
}

// HoldsFiles reports whether an input is an archive or a pipe, whose contents [Found.Inspect]
// inspects.
func HoldsFiles(input string, joined ...Format) bool {
	info, err := os.Stat(input)
	if input == "-" || err == nil && info.Mode()&fs.ModeNamedPipe != 0 {
		return true
	}
	f, err := os.Open(input)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, archive.Head)
	n, _ := io.ReadFull(f, head) // a directory gives an error and no bytes
	format := formats(joined).sniff(head[:n])
	return format != nil && !format.alone
}

// Inspect is [Inspect] for the files of all processes, sorted by directory.
func (f *Found) Inspect(w io.Writer) error {
	processes := slices.Clone(f.Processes)
	slices.SortFunc(processes, func(a, b *Process) int {
		return cmp.Or(cmp.Compare(a.Location, b.Location), cmp.Compare(a.Instance, b.Instance))
	})
	for _, p := range processes {
		if p.foreign != nil {
			return p.notOurs("inspected")
		}
		entries, err := fs.ReadDir(p.files, p.Dir)
		for _, e := range entries {
			if err == nil && !e.IsDir() && isRecordFile(e.Name()) {
				err = inspectSection(w, p.files, path.Join(p.Dir, e.Name()))
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func inspectSection(w io.Writer, files fs.FS, name string) error {
	fmt.Fprintf(w, "-- %s --\n", name)
	return chunks.Inspect(w, files, name)
}

// isRecordFile reports whether a file of that name has a text form.
func isRecordFile(name string) bool {
	kind, _ := chunks.Named(name)
	return kind.HasText()
}
