package ingest

import (
	"path"
	"strings"

	"gprof/chunks"
)

// Verdict is the result of verifying one process.
type Verdict struct {
	Instance string    `json:"instance"`
	Dir      string    `json:"dir"`
	Pid      uint32    `json:"pid"`
	Alive    bool      `json:"alive"` // recording, or was when it was packed
	Exit     bool      `json:"exit"`  // has an exit record
	Chunks   int       `json:"chunks"`
	Rings    int       `json:"rings"`    // stack rings that held samples when it was killed
	Blocks   int64     `json:"blocks"`   // whole blocks
	Proven   int64     `json:"proven"`   // bytes with a matching checksum
	Unproven int64     `json:"unproven"` // bytes read under the commit rule
	Lost     int64     `json:"lost"`     // bytes missing or damaged
	Damaged  bool      `json:"damaged"`  // something is damaged or missing
	Files    []File    `json:"files"`    // chunks by range start, stack rings, then dictionaries
	Problems []Problem `json:"problems"`
}

// First says what the first damage is, and where; "" if there is none.
func (v *Verdict) First() string {
	for _, p := range v.Problems {
		if !p.harmless {
			return p.Where + ": " + p.What
		}
	}
	return ""
}

// File is the result of verifying one chunk, stack ring or dictionary.
type File struct {
	Name     string `json:"name"`
	State    string `json:"state"`    // whole, unproven (readable, not all of it proven), damaged
	Blocks   int64  `json:"blocks"`   // whole blocks, or records
	Proven   int64  `json:"proven"`   // bytes; for chunks the committed ones
	Unproven int64  `json:"unproven"` // likewise
	Lost     int64  `json:"lost"`     // likewise
}

// Problem is something that does not fit.
type Problem struct {
	Class  string `json:"class"`
	Where  string `json:"where"`
	What   string `json:"what"`
	Blocks int64  `json:"blocks"` // -1: unknown
	Bytes  int64  `json:"bytes"`

	harmless bool
}

// Harmless reports whether a recording with the problem is still whole.
func (p Problem) Harmless() bool { return p.harmless }

// The states of a File.
const (
	FileWhole    = "whole"
	FileUnproven = "unproven"
	FileDamaged  = "damaged"
)

// harmless are problems of a recording that is whole.
var harmless = map[chunks.ProblemClass]bool{chunks.Unproven: true, chunks.Stale: true, chunks.Duplicate: true, chunks.LeftOut: true}

// Verify reads all our recordings. An unreadable file is one of the problems.
func (f *Found) Verify() []Verdict {
	verdicts := make([]Verdict, 0, len(f.Processes))
	for _, p := range f.Processes {
		if p.foreign == nil {
			verdicts = append(verdicts, p.verify())
		}
	}
	return verdicts
}

// Damaged verifies our recordings that have ended and were not packed before, and returns the verdicts on
// those that are damaged. Copying them says nothing of that: it does not look at what the bytes mean.
func (f *Found) Damaged() (damaged []Verdict) {
	for _, p := range f.Processes {
		if p.foreign != nil || p.Alive || p.packed() {
			continue
		}
		if v := p.verify(); v.Damaged {
			damaged = append(damaged, v)
		}
	}
	return damaged
}

// Unverified counts foreign processes, whose files have no checksums.
func (f *Found) Unverified() (n int) {
	for _, p := range f.Processes {
		if p.foreign != nil {
			n++
		}
	}
	return n
}

// verifier collects a verdict.
type verifier struct {
	v     Verdict
	files map[string]*File // by base name
}

// verify reads all chunks and dictionaries. A problem counts for the file it names, or else for the
// process alone.
func (p *Process) verify() Verdict {
	images := p.Images()
	w := verifier{files: map[string]*File{}, v: Verdict{Instance: p.Name(), Dir: p.Location, Pid: p.Pid, Alive: p.Alive || p.Snapshot(), Exit: p.Exit != nil,
		Chunks: len(p.Chunks), Rings: len(p.Rest), Problems: []Problem{}, Files: make([]File, len(images)+len(p.Dicts))}}
	for i, im := range images {
		w.file(i, im.Name, int64(im.Header.Commit.Offset()))
	}
	for i, d := range p.Dicts {
		w.file(len(images)+i, d.Name, d.Size)
	}
	for _, pr := range p.Problems {
		w.problem(pr)
	}
	w.readDicts(p)
	blocks := p.Blocks(w.problem)
	for blocks.Next() {
		w.v.Blocks++
		w.files[path.Base(blocks.Block().Chunk.Name)].Blocks++
	}
	w.sum()
	return w.v
}

// file begins a file as proven.
func (w *verifier) file(i int, name string, bytes int64) {
	f := &w.v.Files[i]
	*f = File{Name: path.Base(name), State: FileWhole, Proven: bytes}
	w.files[f.Name] = f
}

func (w *verifier) readDicts(p *Process) {
	var records chunks.Records
	for _, d := range p.Dicts {
		for records.Reset(d, w.problem); records.Next(); {
			w.files[path.Base(d.Name)].Blocks++
		}
	}
}

func (w *verifier) problem(p chunks.Problem) {
	w.v.Damaged = w.v.Damaged || !harmless[p.Class]
	w.v.Problems = append(w.v.Problems, Problem{p.Class.String(), p.Where, p.What, p.Blocks, p.Bytes, harmless[p.Class]})
	name, _, _ := strings.Cut(p.Where, " ")
	f := w.files[name]
	switch {
	case f == nil && !harmless[p.Class]:
		w.v.Lost += max(0, p.Bytes)
	case f == nil:
	case p.Class == chunks.Unproven:
		f.Unproven += f.take(p.Bytes)
		if f.State == FileWhole {
			f.State = FileUnproven
		}
	case !harmless[p.Class]:
		f.Lost += f.take(p.Bytes)
		f.State = FileDamaged
	}
}

// take takes bytes from the proven ones, but no more than there are, because damage may be counted
// twice.
func (f *File) take(n int64) int64 {
	n = min(max(0, n), f.Proven)
	f.Proven -= n
	return n
}

// sum adds up chunks and rings. Dictionaries only lose names.
func (w *verifier) sum() {
	for _, f := range w.v.Files[:w.v.Chunks+w.v.Rings] {
		w.v.Proven += f.Proven
		w.v.Unproven += f.Unproven
		w.v.Lost += f.Lost
	}
}
