package ingest

import "gprof/chunks"

// Verdict is what verifying one process found.
type Verdict struct {
	Instance string    `json:"instance"`
	Dir      string    `json:"dir"`
	Pid      uint32    `json:"pid"`
	Alive    bool      `json:"alive"`
	Chunks   int       `json:"chunks"`
	Blocks   int64     `json:"blocks"`   // whole blocks
	Proven   int64     `json:"proven"`   // bytes of sealed pages
	Unproven int64     `json:"unproven"` // bytes read under the commit rule
	Damaged  bool      `json:"damaged"`  // something is damaged or missing
	Problems []Problem `json:"problems"`
}

// Problem is one thing that does not fit.
type Problem struct {
	Class  string `json:"class"`
	Where  string `json:"where"`
	What   string `json:"what"`
	Blocks int64  `json:"blocks"` // -1: not known how many
	Bytes  int64  `json:"bytes"`
}

// harmless are problems of a recording that is whole.
var harmless = map[chunks.ProblemClass]bool{chunks.Unproven: true, chunks.Stale: true, chunks.Duplicate: true, chunks.LeftOut: true}

// Verify reads all processes. The error is one of reading a file.
func (f *Found) Verify() ([]Verdict, error) {
	verdicts := make([]Verdict, 0, len(f.Processes))
	for _, p := range f.Processes {
		v, err := p.verify()
		if err != nil {
			return nil, err
		}
		verdicts = append(verdicts, v)
	}
	return verdicts, nil
}

func (p *Process) verify() (Verdict, error) {
	v := Verdict{Instance: p.Name(), Dir: p.Location, Pid: p.Pid, Alive: p.Alive, Chunks: len(p.Chunks), Problems: []Problem{}}
	for _, pr := range p.Problems {
		v.problem(pr)
	}
	p.verifyDicts(v.problem)
	blocks := p.Blocks(v.problem)
	for blocks.Next() {
		v.Blocks++
	}
	v.Proven = int64(size(p)) - v.Unproven
	return v, blocks.Err()
}

// verifyDicts reads all definitions.
func (p *Process) verifyDicts(report func(chunks.Problem)) {
	var records chunks.Records
	for _, d := range p.Dicts {
		for records.Reset(d, report); records.Next(); {
		}
	}
}

func (v *Verdict) problem(p chunks.Problem) {
	if p.Class == chunks.Unproven {
		v.Unproven += p.Bytes
	} else if !harmless[p.Class] {
		v.Damaged = true
	}
	v.Problems = append(v.Problems, Problem{p.Class.String(), p.Where, p.What, p.Blocks, p.Bytes})
}
