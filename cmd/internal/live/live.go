// Package live is what the processes of a session did lately, read from their rings while they go on.
//
// A look reads files and nothing else: it takes no lock that a recorder waits for, writes nothing into the
// session, and reads only the chunks that were open in the time that is asked for. What a recorder overwrites
// meanwhile is left out and counted, as by every reader.
package live

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"gprof/chunks"
	"gprof/cmd/internal/session"
	"gprof/convert/list"
	"gprof/convert/top"
	"gprof/decode"
	"gprof/ingest/symbols"
	"gprof/rawformat"
	"gprof/stream"
	"gprof/stream/filter"
)

// Options say what a look is of.
type Options struct {
	Session  string        // directory
	Last     time.Duration // how far back it reaches
	By       string        // one of [top.Ways] but marker and counter
	Of       string        // as for [top.New]
	Symbols  []string      // programs, and folders of them, that name functions which the recording does not
	SpillDir string        // for what does not fit into memory
}

// View is a session at one moment, and what it did before.
type View struct {
	Session   string        `json:"session"`
	State     string        `json:"state"`
	At        time.Time     `json:"at"`
	Seconds   float64       `json:"seconds"` // that the figures are of
	Held      int64         `json:"held"`    // bytes, of all processes
	Limit     int64         `json:"limit"`
	Processes []Process     `json:"processes"` // those that are alive, or were in that time
	Top       *top.Table    `json:"top"`
	Slow      []list.Marker `json:"slow"`   // the intervals that took longest of those that ended in that time
	Losses    int64         `json:"losses"` // things that are missing from the figures
	Took      time.Duration `json:"took_ns"`
}

// Process is what a process did.
type Process struct {
	Instance   string   `json:"instance"`
	Pid        uint32   `json:"pid"`
	Title      string   `json:"title"`
	State      string   `json:"state"`
	Alive      bool     `json:"alive"`
	CPU        *float64 `json:"cpu"`        // processors that it kept busy
	Memory     *float64 `json:"rss_bytes"`  // nil, as the others: not recorded in that time
	Heap       *float64 `json:"heap_bytes"` // objects
	Goroutines *float64 `json:"goroutines"`
}

// Look looks at a session.
type Look struct {
	o     Options
	names *symbols.Set
	known []string // programs of names
}

// New returns a Look. The error is that of options.
func New(o Options) (*Look, error) {
	if _, err := newSinks(o); err != nil {
		return nil, err
	}
	return &Look{o: o}, nil
}

// slowest is how many markers a look picks.
const slowest = 5

// sinks are what a look sums up.
type sinks struct {
	top, counters *top.Sink
	slow          *list.Sink
}

func newSinks(o Options) (s sinks, err error) {
	if s.top, err = top.New(o.By, o.Of); err != nil {
		return s, err
	}
	if s.counters, err = top.New(top.Counter, top.Auto); err != nil {
		return s, err
	}
	query, err := filter.ParseQuery("*[duration>0ns]")
	if err == nil {
		s.slow, err = list.New(query, "longest", slowest)
	}
	return s, err
}

// Next looks:
//
//  1. Read the control page and which processes there are.
//  2. Open those that are alive or ended lately, with the chunks that were written since.
//  3. Sum up what these hold of that time.
func (l *Look) Next() (*View, error) {
	began := time.Now()
	state, err := session.Look(l.o.Session)
	if err != nil {
		return nil, err
	}
	v := &View{Session: state.Session, State: state.Doing(), At: began, Held: state.Held, Limit: state.Limit, Processes: []Process{}}
	from := began.Add(-l.o.Last)
	s, err := newSinks(l.o)
	if err != nil {
		return nil, err
	}
	tables := new(stream.Tables)
	inputs := l.open(state, from, v, tables)
	if err := l.openSymbols(inputs); err != nil {
		return nil, err
	}
	src := filter.ByTime(decode.New(tables, inputs, decode.Options{GoOn: true, Resolve: l.resolve}), stream.Time(from.UnixNano()), stream.Time(began.UnixNano())+1)
	if err := stream.Copy(stream.Tee(s.top, s.counters, s.slow), src, stream.CopyOptions{SpillDir: l.o.SpillDir}); err != nil {
		return nil, err
	}
	v.Seconds, v.Top, v.Slow = l.o.Last.Seconds(), s.top.Table, s.slow.Report.Markers
	v.take(s.counters.Table.Counters)
	for _, line := range tables.Ledger.Lines() {
		if line.Reason.Severity() == stream.Loss {
			v.Losses += line.Count
		}
	}
	v.Took = time.Since(began)
	return v, nil
}

// open opens the processes that may have done something since a moment, for the decoder and for the view.
func (l *Look) open(state *session.State, from time.Time, v *View, tables *stream.Tables) (inputs []decode.Input) {
	for _, is := range state.Processes {
		if !is.Alive && (is.Ended == nil || is.Ended.Before(from)) {
			continue
		}
		p, err := chunks.OpenProcess(os.DirFS(l.o.Session), is.Instance)
		if err != nil {
			continue // it is gone
		}
		clock, ok := decode.ClockOf(p)
		if !ok {
			continue // it has written nothing
		}
		if is.Alive {
			p.Rest = nil // it is about to write that itself
		}
		p.Chunks = slices.DeleteFunc(p.Chunks, func(im *chunks.Image) bool {
			return im.Closed && im.Header.Close.Realtime > 0 && im.Header.Close.Realtime < from.UnixNano()
		})
		row := decode.Describe(p, clock)
		tables.Processes = append(tables.Processes, row)
		inputs = append(inputs, decode.Input{Found: p, ID: stream.ProcessID(len(tables.Processes)), Clock: clock})
	}
	stream.AssignNames(tables.Processes)
	for i := range tables.Processes {
		row := &tables.Processes[i]
		at := slices.IndexFunc(state.Processes, func(is *session.Process) bool { return is.Instance == row.InstanceName() })
		is := state.Processes[at]
		v.Processes = append(v.Processes, Process{Instance: is.Instance, Pid: is.Pid, Title: row.Title(), State: is.State, Alive: is.Alive})
	}
	return inputs
}

// take puts counters to their processes.
func (v *View) take(counters []top.CounterRow) {
	for i := range v.Processes {
		p := &v.Processes[i]
		for _, c := range counters {
			if c.Instance != p.Instance {
				continue
			}
			last, busy := float64(c.Last), c.Mean/float64(time.Second)
			switch c.Name {
			case rawformat.CounterProcessCPU:
				p.CPU = &busy
			case stream.CounterRSS:
				p.Memory = &last
			case stream.CounterHeap:
				p.Heap = &last
			case "goroutines":
				p.Goroutines = &last
			}
		}
	}
	slices.SortStableFunc(v.Processes, func(a, b Process) int { return cmp.Compare(busy(b), busy(a)) })
}

// busy sorts processes: those that are alive and take most first.
func busy(p Process) float64 {
	switch {
	case !p.Alive:
		return -1
	case p.CPU == nil:
		return 0
	}
	return *p.CPU
}

// openSymbols opens what names functions that no recording names: what was asked for, and the programs that are
// sampled from outside, as they are on this machine.
func (l *Look) openSymbols(inputs []decode.Input) error {
	paths := slices.Clone(l.o.Symbols)
	for _, in := range inputs {
		exe := in.Found.Value(rawformat.MetaExe)
		if info, err := os.Stat(exe); err == nil && info.Mode().IsRegular() && filepath.IsAbs(exe) && decode.IsSampled(in.Found) {
			paths = append(paths, exe)
		}
	}
	slices.Sort(paths[len(l.o.Symbols):])
	paths = slices.Compact(paths)
	if l.names != nil && slices.Equal(paths, l.known) {
		return nil
	}
	set, errs := symbols.Open(paths)
	for i := range l.o.Symbols {
		if errs[i] != nil {
			return fmt.Errorf("%s: %w", paths[i], errs[i])
		}
	}
	l.names, l.known = set, paths
	return nil
}

func (l *Look) resolve(build string, offset uint64, add func(function, file string, line, start int32)) {
	for _, f := range l.names.Lookup(build, offset) {
		add(f.Name, f.File, f.Line, f.Start)
	}
}
