package ingest

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"gprof/rawformat"
)

// Format is one kind of input file.
type Format struct {
	Name  string
	Magic string // the file's first bytes
	hint  string // why a file of it is no input by itself; "" if it is one
}

// Formats is the table of files that are recognised, by their first bytes.
// Directories are searched for them.
var Formats = []Format{
	{Name: "chunk file", Magic: rawformat.MagicChunk},
	{Name: "dictionary", Magic: rawformat.MagicDict, hint: "it holds only names; give the directory that it lies in"},
	{Name: "meta file", Magic: rawformat.MagicMeta, hint: "it holds no events; give the directory that it lies in"},
	{Name: "exit file", Magic: rawformat.MagicExit, hint: "it holds no events; give the directory that it lies in"},
}

// sniffFile recognises a file by its first bytes.
func sniffFile(name string) (*Format, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	head := make([]byte, 16)
	n, err := io.ReadFull(file, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	for i := range Formats {
		if strings.HasPrefix(string(head[:n]), Formats[i].Magic) {
			return &Formats[i], nil
		}
	}
	if n == 0 {
		return nil, fmt.Errorf("%s: is empty; want a session directory or a chunk file", name)
	}
	return nil, fmt.Errorf("%s: %w: it begins with %q; want a session directory or a chunk file", name, rawformat.ErrMagic, head[:min(n, 8)])
}

func (f *Format) accept(name string) error {
	if f.hint != "" {
		return fmt.Errorf("%s: is a %s: %s", name, f.Name, f.hint)
	}
	return nil
}

// isProcess reports whether a directory with those entries is that of one
// process: it holds a meta file, a dictionary or a chunk.
func isProcess(entries []fs.DirEntry) bool {
	for _, e := range entries {
		name := e.Name()
		if !e.IsDir() && (name == "meta" || strings.HasPrefix(name, "chunk-") || strings.HasPrefix(name, "dict-")) {
			return true
		}
	}
	return false
}
