package ingest

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gprof/chunks"
	"gprof/decode"
)

// maxDepth is how many directories below an input are searched: one above a
// session, the session, the instance, and one to spare.
const maxDepth = 4

// Errors of inputs.
var (
	ErrNothing = errors.New("no recording found")
	ErrForeign = errors.New("not a gprof file")
)

// Found is what the inputs hold.
type Found struct {
	Processes []*Process // by start time and instance
	Warnings  []error    // inputs that gave nothing, with their paths
	twice     []*Process // copies of a process that is in Processes
}

// Process is one process and where it lies.
type Process struct {
	*chunks.Process
	Location string          // the process' directory; for messages only
	Alive    bool            // it is still recording
	anchors  []decode.Anchor // readings of its clocks
	clock    decode.Clock
}

// Find looks for recordings in the inputs. The error wraps [ErrNothing] if
// there are none; inputs beside others that give nothing are warnings.
//
// The caller closes what was found when all of it has been read.
func Find(inputs []string, o Options) (*Found, error) {
	f := &finder{seen: map[string]bool{}, chunks: map[string][]string{}}
	for _, in := range inputs {
		if err := f.input(in); err != nil {
			f.found.Warnings = append(f.found.Warnings, err)
		}
	}
	f.openChunks()
	f.found.order()
	if len(f.found.Processes) == 0 {
		return nil, errors.Join(append([]error{ErrNothing}, f.found.Warnings...)...)
	}
	return &f.found, nil
}

// Close removes temporary files. What was found cannot be read any more.
func (f *Found) Close() error { return nil }

type finder struct {
	found  Found
	seen   map[string]bool     // real paths of process directories
	chunks map[string][]string // single chunk files, by directory
	dirs   []string            // of chunks, in order
}

func (f *finder) input(in string) error {
	info, err := os.Stat(in)
	if err != nil {
		return err
	}
	if info.IsDir() {
		n, err := f.directory(in, maxDepth)
		if err == nil && n == 0 {
			err = fmt.Errorf("%s: %w in this directory; give the session directory that the recorder wrote", in, ErrNothing)
		}
		return err
	}
	return f.file(in, info)
}

// file takes a single file: a chunk joins the others of its directory.
func (f *finder) file(in string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s: is neither a directory nor a regular file; want a session directory or a chunk file", in)
	}
	if err := acceptFile(in); err != nil {
		return err
	}
	dir := filepath.Dir(in)
	if f.chunks[dir] == nil {
		f.dirs = append(f.dirs, dir)
	}
	f.chunks[dir] = append(f.chunks[dir], filepath.Base(in))
	return nil
}

// directory takes a process directory, or searches it; n counts processes.
func (f *finder) directory(dir string, depth int) (n int, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	if isProcess(entries) {
		return 1, f.process(dir)
	}
	for _, e := range entries {
		if !e.IsDir() || depth == 0 {
			continue
		}
		below, err := f.directory(filepath.Join(dir, e.Name()), depth-1)
		if n += below; err != nil {
			f.found.Warnings = append(f.found.Warnings, err)
		}
	}
	return n, nil
}

func (f *finder) process(dir string) error {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	if real, err = filepath.Abs(real); err != nil || f.seen[real] {
		return err
	}
	f.seen[real] = true
	p, err := chunks.OpenProcess(os.DirFS(dir), ".")
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	f.found.Processes = append(f.found.Processes, &Process{Process: p, Location: dir, Alive: chunks.Alive(dir)})
	return nil
}

// openChunks opens single chunk files: those of one directory are one process,
// read with the dictionaries and the meta file that lie beside them.
func (f *finder) openChunks() {
	for _, dir := range f.dirs {
		p, err := chunks.OpenProcess(os.DirFS(dir), ".")
		if err != nil {
			f.found.Warnings = append(f.found.Warnings, fmt.Errorf("%s: %w", dir, err))
			continue
		}
		keep(p, f.chunks[dir])
		f.found.Processes = append(f.found.Processes, &Process{Process: p, Location: dir})
	}
}

// keep leaves only the named chunks in p, and the problems that are theirs or
// the dictionaries'.
func keep(p *chunks.Process, names []string) {
	p.Chunks = slices.DeleteFunc(p.Chunks, func(im *chunks.Image) bool { return !slices.Contains(names, filepath.Base(im.Name)) })
	p.Problems = slices.DeleteFunc(p.Problems, func(pr chunks.Problem) bool {
		file, _, _ := strings.Cut(pr.Where, " ")
		return pr.Class == chunks.Gap || strings.HasPrefix(file, "chunk-") && !slices.Contains(names, file)
	})
}

// order sorts the processes and sets copies aside: of two with one instance
// the one that goes on longer is kept.
func (f *Found) order() {
	for _, p := range f.Processes {
		p.anchors = decode.Anchors(p.Process)
	}
	slices.SortStableFunc(f.Processes, func(a, b *Process) int {
		return cmp.Or(cmp.Compare(a.Instance, b.Instance), cmp.Compare(rangeEnd(b), rangeEnd(a)), cmp.Compare(size(b), size(a)))
	})
	f.Processes = slices.CompactFunc(f.Processes, func(kept, p *Process) bool {
		if kept.Instance == p.Instance {
			f.twice = append(f.twice, p)
		}
		return kept.Instance == p.Instance
	})
	slices.SortFunc(f.Processes, func(a, b *Process) int {
		return cmp.Or(cmp.Compare(a.began(), b.began()), cmp.Compare(a.Instance, b.Instance))
	})
}

// began is the real time of the first reading of p's clocks, 0 if it has none.
func (p *Process) began() int64 {
	if len(p.anchors) == 0 {
		return 0
	}
	return p.anchors[0].Realtime
}

// Usable returns an error if all that was found is damaged: no process has a
// chunk that can be read. A process that has not recorded anything is fine.
func (f *Found) Usable() error {
	var first *chunks.Problem
	for _, p := range f.Processes {
		if len(p.Chunks) > 0 {
			return nil
		}
		for i := range p.Problems {
			if first == nil && !harmless[p.Problems[i].Class] {
				first = &p.Problems[i]
			}
		}
	}
	if first == nil {
		return nil
	}
	return fmt.Errorf("%w: no chunk can be read: %v", ErrNothing, first)
}

// rangeEnd is the index past the last committed byte, size the committed bytes.
func rangeEnd(p *Process) (end uint64) {
	for _, im := range p.Chunks {
		end = max(end, im.Header.RangeStart+uint64(im.Header.Commit.Offset()))
	}
	return end
}

func size(p *Process) (n uint64) {
	for _, im := range p.Chunks {
		n += uint64(im.Header.Commit.Offset())
	}
	return n
}

// Bytes is how many payload bytes of p are committed.
func (p *Process) Bytes() int64 { return int64(size(p)) }
