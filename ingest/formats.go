package ingest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"gprof/chunks"
)

// hints say why a file is no input by itself.
var hints = map[chunks.FileKind]string{
	chunks.DictFile: "it holds only names; give the directory that it lies in",
	chunks.MetaFile: "it holds no events; give the directory that it lies in",
	chunks.ExitFile: "it holds no events; give the directory that it lies in",
}

// acceptFile returns nil for a file that is an input by itself, which only a
// chunk file is.
func acceptFile(name string) error {
	head, err := readHead(name)
	if err != nil {
		return err
	}
	switch kind := chunks.Sniff(head); {
	case len(head) == 0:
		return fmt.Errorf("%s: is empty; want a session directory or a chunk file", name)
	case kind == chunks.NoFile:
		return fmt.Errorf("%s: %w: it begins with %q; want a session directory or a chunk file", name, ErrForeign, head)
	case hints[kind] != "":
		return fmt.Errorf("%s: %v: %s", name, kind, hints[kind])
	}
	return nil
}

// readHead reads the first bytes of a file, fewer if it has no more.
func readHead(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	head := make([]byte, 8)
	n, err := io.ReadFull(file, head)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return head[:n], err
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
