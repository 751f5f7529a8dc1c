// Package why says why a program died or became slow: it looks at the counters, samples, waits,
// markers and logs of a recording, and ranks what it finds, each finding with its evidence.
//
// Each kind of trouble has a [Detector], which compares a process with its own history and names
// what it blames: a function, a marker, a counter. A finding is a [Cause] only if there was a change
// or a growth without end, and one place explains most of it. What a recording can't tell is a
// list of its own in the [Report].
package why

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gprof/convert/why/internal/facts"
	"gprof/stream"
)

// Report is what was found.
type Report struct {
	Findings []Finding `json:"findings"` // the surest first
	Unknown  []string  `json:"unknown"`  // what the recording can't tell, and what to record
}

// Options say what to look at.
type Options struct {
	From, To stream.Time // 0: all
	// Ended reports whether a process is known to have ended, rather than to be recording still or to be
	// of a file that does not tell; nil: all have.
	Ended func(*stream.Process) bool
}

// Sink makes a Report. Its memory does not grow with the number of rows.
type Sink struct {
	Report Report // whole once Close has returned

	options   Options
	detectors []Detector
	kept      []*Brief
	collector *facts.Collector
	tables    *stream.Tables
	id        stream.ProcessID
	lacks     map[string]int // processes that lack something
}

// New returns a Sink.
func New(o Options) *Sink {
	return &Sink{options: o, detectors: Detectors(), lacks: map[string]int{}}
}

// Begin prepares for the tables t.
func (s *Sink) Begin(t *stream.Tables) (err error) {
	s.tables = t
	s.collector, err = facts.New(t, s.options.From, s.options.To)
	return err
}

// Segment adds the rows of b.
func (s *Sink) Segment(b *stream.Batch) error {
	if b.Series.Process != s.id {
		s.endProcess()
		s.id = b.Series.Process
		s.collector.Begin(s.id)
	}
	s.collector.Add(b)
	return nil
}

// endProcess looks at a process that is whole.
func (s *Sink) endProcess() {
	if s.id == 0 {
		return
	}
	p := &Process{Facts: s.collector.End(), tables: s.tables, sites: map[*facts.Stacks][]*facts.Site{}}
	p.Alive = s.alive(p.Process)
	s.kept = append(s.kept, p.brief())
	if p.Time.Seconds(0, facts.Steps+1) < shortest {
		s.lacks[tooShort]++
	} else {
		for order, d := range s.detectors {
			s.detect(p, order, d)
		}
	}
	s.id = 0
}

// alive reports whether a process may live on.
func (s *Sink) alive(p *stream.Process) bool {
	return !p.Exit.Known && s.options.Ended != nil && !s.options.Ended(p)
}

// shortest is how many seconds of a process there must be to compare it with itself: in a shorter one
// counters were read a few times, and nothing says what it does as a rule.
const shortest = 1

const tooShort = "what changed: a process of less than a second can't be compared with itself"

// detect has a detector look at a process.
func (s *Sink) detect(p *Process, order int, d Detector) {
	about := d.About()
	if about.Lacks != nil {
		if lacks := about.Lacks(p); lacks != "" {
			s.lacks[lacks]++
		}
	}
	for _, f := range d.Find(p) {
		f.Detector, f.about, f.order, f.id = about.Name, about, order, s.id
		f.Process, f.Instance = p.Title(), p.Process.InstanceName()
		s.Report.Findings = append(s.Report.Findings, f)
	}
}

// Close ranks what was found.
func (s *Sink) Close() error {
	s.endProcess()
	for i, d := range SessionDetectors() {
		for _, f := range d.FindAll(s.briefs()) {
			f.about, f.order = d.About(), i-len(s.detectors) // before those of single processes
			f.Detector = f.about.Name
			s.Report.Findings = append(s.Report.Findings, f)
		}
	}
	s.demote()
	slices.SortFunc(s.Report.Findings, func(a, b Finding) int { return compareFindings(&a, &b) })
	s.Report.Unknown = s.unknown()
	return nil
}

// demote makes findings one step less sure that are effects of others.
func (s *Sink) demote() {
	found := map[stream.ProcessID][]string{}
	for i := range s.Report.Findings {
		if f := &s.Report.Findings[i]; f.Severity == Cause {
			for _, id := range append(f.covers, f.id) {
				found[id] = append(found[id], f.Detector)
			}
		}
	}
	for i := range s.Report.Findings {
		f := &s.Report.Findings[i]
		for _, cause := range f.about.EffectOf {
			if f.Severity > Note && slices.Contains(found[f.id], cause) {
				f.Severity, f.EffectOf = f.Severity-1, cause
				break
			}
		}
	}
}

// unknown is what the recording can't tell: what most processes lack first. What only some lack is told with their number.
func (s *Sink) unknown() []string {
	all := slices.SortedFunc(maps.Keys(s.lacks), func(a, b string) int { return cmp.Or(s.lacks[b]-s.lacks[a], strings.Compare(a, b)) })
	for i, lack := range all {
		if n := s.lacks[lack]; n < len(s.kept) {
			all[i] = fmt.Sprintf("%s (%d of %d processes)", lack, n, len(s.kept))
		}
	}
	return append([]string{}, all...)
}
