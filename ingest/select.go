package ingest

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gprof/chunks"
	"gprof/decode"
	"gprof/stream"
	"gprof/stream/filter"
)

// Selection is the wanted part of the recordings. The zero Selection is all of them. Chunks that
// can't contribute are not read.
type Selection struct {
	// Processes are the wanted ones: patterns of any of their names, see [stream.Process.Names], or
	// the beginning of one's instance. None: all.
	Processes filter.Patterns
	// Tracks, if any, leave out processes of which they can want none.
	Tracks filter.Tracks
	// From and To limit the time: from From on and before To. Both 0: no limit.
	From, To stream.Time
	// Grouping says which tracks samples and markers are put on.
	Grouping Grouping
	// States adds the states of goroutines that execution traces tell, see [gotrace.StateEvent].
	States bool
	// Headers leaves out all events. What is told of the processes is the same, their ends included: for
	// that the chunks that may hold the last event are read.
	Headers bool
	// Every, if above 1, reads one of so many chunks, of all processes: for a first picture of much. Names of
	// processes say so.
	Every int

	chunks int // that Every was asked about
	jobs   int // as in Options
}

// Grouping says which tracks there are, see [decode.Grouping].
type Grouping = decode.Grouping

// All groupings.
const (
	ByTrack     = decode.ByTrack
	ByRoot      = decode.ByRoot
	ByThread    = decode.ByThread
	ByProcessor = decode.ByProcessor
)

// place puts all processes on one time line and drops what has expired. Ledger lines about that are
// kept for the source's tables.
func (f *Found) place() {
	if f.placed {
		return
	}
	f.placed = true
	f.joinCopies()
	f.current = newExpiry(f).current(f.Processes, &f.ledger)
	f.name()
}

// Keep leaves only the processes of some names, see [Process.Name]. Their clocks and their names are,
// and what has expired is, as among all. The ledger of what is read is about them only; it is also
// about the inputs as a whole if tell is set.
func (f *Found) Keep(want func(name string) bool, tell bool) {
	f.place()
	other := func(p *Process) bool { return !want(p.Name()) }
	f.Processes = slices.DeleteFunc(slices.Clone(f.Processes), other)
	f.current = slices.DeleteFunc(slices.Clone(f.current), other)
	f.twice = slices.DeleteFunc(slices.Clone(f.twice), other)
	lines := f.ledger.Lines()
	f.ledger = stream.Ledger{}
	for _, line := range lines {
		if line.Process == "" && tell || line.Process != "" && want(line.Process) {
			f.ledger.Add(line)
		}
	}
	if !tell {
		f.Warnings, f.again, f.removed = nil, nil, nil
	}
}

// name makes the names of processes distinct, among all of them, so that a selection names them as
// the whole does.
func (f *Found) name() {
	rows := make([]stream.Process, len(f.current))
	for i, p := range f.current {
		rows[i] = p.Row()
	}
	stream.AssignNames(rows)
	for i, p := range f.current {
		p.naming, p.row = rows[i].Naming, &rows[i]
	}
}

// Span is from when the first process began to the latest event. Both are 0 if there are no events.
func (f *Found) Span() (start, end stream.Time) {
	f.place()
	start, end = math.MaxInt64, math.MinInt64
	for _, p := range f.current {
		if last, ok := p.latest(); ok {
			end = max(end, last)
			start = min(start, p.start())
		}
	}
	if start > end {
		return 0, 0
	}
	return start, end
}

// Kept is the time of the first and last event. Both are 0 if there are none.
func (f *Found) Kept() (from, to stream.Time) {
	f.place()
	for _, p := range f.current {
		if last, ok := p.latest(); ok {
			to = max(to, last)
			if first := p.From(); from == 0 || first < from {
				from = first
			}
		}
	}
	return from, to
}

// Crash is a process that ended uncleanly.
type Crash struct {
	Instance string
	Title    string
	At       stream.Time // its last committed entry
}

// Crashes are the processes of these names, or all, that were killed, crashed or failed, ordered by
// their end. One still recording is none.
func (f *Found) Crashes(names filter.Patterns) (all []Crash) {
	f.place()
	s := Selection{Processes: names}
	if s.complete(f.current) != nil {
		return nil
	}
	for _, p := range f.current {
		at, ok := p.latest()
		if !ok || p.foreign != nil || decode.Clean(p.Process) || p.Alive || p.Snapshot() && p.Exit == nil {
			continue
		}
		if row := p.Row(); s.names(&row) {
			all = append(all, Crash{Instance: p.Name(), Title: row.Title(), At: at})
		}
	}
	slices.SortFunc(all, func(a, b Crash) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Instance, b.Instance)) })
	return all
}

// headers is the source of all that is known of processes without their events.
func headers(tables *stream.Tables, processes []*Process, inputs []decode.Input) stream.Source {
	decode.New(tables, inputs, decode.Options{}) // tells the tables of main tracks, and of damage that shows without reading
	for i, p := range processes {
		row := &tables.Processes[i]
		if at, ok := p.latest(); ok {
			row.Start, row.End = cmp.Or(row.Start, p.From()), max(row.End, at)
		}
		row.End = max(row.End, row.Start)
	}
	return stream.Merge(tables)
}

// latest is the time of the last event of p, not ok if there is none. Only chunks that may hold it
// are read.
func (p *Process) latest() (at stream.Time, ok bool) {
	if p.foreign != nil {
		row := p.Row()
		return max(row.Start, row.End), true
	}
	images := p.Images()
	slices.SortStableFunc(images, func(a, b *chunks.Image) int { return cmp.Compare(closed(b), closed(a)) })
	last := uint64(0)
	for i := range images {
		if last > closed(images[i]) {
			break
		}
		_, read := decode.ReadAnchors(p.Process, images[i:i+1])
		last = max(last, read)
	}
	return p.clock.At(last), last != 0
}

// start is when p began to record, as far as known.
func (p *Process) start() stream.Time {
	if p.foreign != nil {
		return p.foreign.row().Start
	}
	if m, ok := decode.StartOf(p.Process); ok {
		return p.clock.At(m)
	}
	return p.From()
}

// closed is the monotonic time when a chunk was closed; for an open one, the end of time.
func closed(im *chunks.Image) uint64 {
	if im.Closed && im.Header.Close.Monotonic != 0 {
		return im.Header.Close.Monotonic
	}
	return math.MaxUint64
}

// pick is a process and what of it is to be read.
type pick struct {
	*Process
	part *chunks.Process
}

// choose returns the wanted processes; the others become ledger lines. The error is a
// [filter.ErrNoMatch] if no name is wanted.
func (s *Selection) choose(all []*Process, ledger *stream.Ledger) (kept []pick, err error) {
	var names []string
	for _, p := range all {
		if !s.wants(p) {
			names = append(names, p.Name()+"  "+p.Title())
			ledger.Add(p.notAsked("process"))
		} else if part := s.part(p, ledger); part != nil {
			kept = append(kept, pick{p, s.thin(p, part, ledger)})
		} else {
			ledger.Add(p.notAsked("time"))
		}
	}
	if len(names) == len(all) && len(all) > 0 {
		wanted := s.Processes.String()
		if len(s.Processes) == 0 {
			wanted = s.Tracks.String()
		}
		return nil, filter.NoMatch("no process has the instance, pid, name, service or host "+wanted, names)
	}
	return kept, nil
}

// complete completes patterns that are the beginning of one process's instance. It is an error if
// several instances begin so.
func (s *Selection) complete(all []*Process) error {
	s.Processes = slices.Clone(s.Processes)
	for i, pattern := range s.Processes {
		var begins []string
		named := slices.ContainsFunc(all, func(p *Process) bool {
			row := p.Row()
			if strings.HasPrefix(p.Name(), strings.ToLower(string(pattern))) {
				begins = append(begins, p.Name()+"  "+row.Title())
			}
			return slices.ContainsFunc(row.Names(), pattern.Match)
		})
		switch {
		case named || len(begins) == 0 || pattern == "":
		case len(begins) > 1:
			return filter.NoMatch(fmt.Sprintf("several instances begin with %q", pattern), begins)
		default:
			s.Processes[i] = filter.Pattern(begins[0][:len(all[0].Name())])
		}
	}
	return nil
}

// tell adds ledger lines about the processes, except of unwanted ones.
func (s *Selection) tell(f *Found, ledger *stream.Ledger) {
	unwanted := map[string]bool{}
	for _, p := range f.Processes {
		if !s.wants(p) {
			unwanted[p.Name()] = true
		}
	}
	for _, line := range f.ledger.Lines() {
		if !unwanted[line.Process] {
			ledger.Add(line)
		}
	}
}

// notAsked is the ledger line of an unwanted process.
func (p *Process) notAsked(filter string) stream.Line {
	return stream.Line{Process: p.Name(), Reason: stream.ReasonFiltered, What: "processes", Where: filter, Count: 1, Bytes: p.Bytes()}
}

// wants reports whether a process has a wanted name.
func (s *Selection) wants(p *Process) bool {
	if len(s.Processes) == 0 && len(s.Tracks) == 0 {
		return true
	}
	row := p.Row()
	return s.names(&row)
}

// names reports whether a process has a wanted name.
func (s *Selection) names(row *stream.Process) bool {
	return s.Tracks.WantProcess(row.Pid) && (len(s.Processes) == 0 || slices.ContainsFunc(row.Names(), s.Processes.Match))
}

// slack is how exactly times in chunk headers agree with those of events: both are of one clock,
// but ticks are converted.
const slack = stream.Time(time.Millisecond)

// part is what of a process may hold something of the wanted time, nil if nothing. Chunks closed
// before are dropped. Those opened later are not: an interval is recorded at its end.
func (s *Selection) part(p *Process, ledger *stream.Ledger) *chunks.Process {
	switch {
	case s.From == 0 && s.To == 0, p.foreign != nil && p.foreign.reaches(s.From, s.To):
		return p.Process
	case p.foreign != nil:
		return nil
	}
	part := *p.Process
	part.Chunks = nil
	left := stream.Line{Process: p.Name(), Reason: stream.ReasonFiltered, What: "chunks", Where: "time"}
	for _, im := range p.Chunks {
		if s.after(p, im) {
			part.LeftOut = append(slices.Clip(part.LeftOut), im) // its anchors still tell of the clock
			left.Count++
			left.Bytes += int64(im.Header.Commit.Offset())
			continue
		}
		part.Chunks = append(part.Chunks, im)
	}
	if len(part.Chunks) == 0 || p.start()-slack >= s.To {
		return nil
	}
	if left.Count > 0 {
		ledger.Add(left)
	}
	return &part
}

// thin leaves one of so many chunks. Blocks that straddle need all.
func (s *Selection) thin(p *Process, part *chunks.Process, ledger *stream.Ledger) *chunks.Process {
	if s.Every <= 1 || slices.ContainsFunc(part.Chunks, func(im *chunks.Image) bool { return im.Header.Straddles() }) {
		return part
	}
	thin := *part
	thin.Chunks = nil
	left := stream.Line{Process: p.Name(), Reason: stream.ReasonFiltered, What: "chunks", Where: "first picture"}
	for _, im := range part.Chunks {
		if s.chunks++; s.chunks%s.Every == 0 {
			thin.Chunks = append(thin.Chunks, im)
			continue
		}
		thin.LeftOut = append(slices.Clip(thin.LeftOut), im)
		left.Count++
		left.Bytes += int64(im.Header.Commit.Offset())
	}
	if left.Count > 0 {
		ledger.Add(left)
	}
	return &thin
}

// nameParts says in the names of processes how much of them is read.
func nameParts(rows []stream.Process, chosen []pick) {
	for i, p := range chosen {
		if p.foreign == nil && len(p.part.Chunks) < len(p.Chunks) {
			rows[i].Part = fmt.Sprintf("%d of %d chunks", len(p.part.Chunks), len(p.Chunks))
		}
	}
}

// after reports whether everything wanted came after a chunk. One that continues in the next can't
// be judged by itself.
func (s *Selection) after(p *Process, im *chunks.Image) bool {
	m := closed(im)
	return m != math.MaxUint64 && p.clock.At(m)+slack < s.From && !im.Header.Straddles()
}
