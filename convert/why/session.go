package why

import (
	"cmp"
	"math"
	"slices"
	"time"

	"gprof/convert/why/internal/facts"
	"gprof/stream"
)

// SessionDetector finds one kind of trouble in all processes of a recording together.
type SessionDetector interface {
	// About describes it.
	About() About
	// FindAll looks at all processes, in the order of their start.
	FindAll([]*Brief) []Finding
}

// SessionDetectors are all of them.
func SessionDetectors() []SessionDetector { return []SessionDetector{restarts{}, versions{}} }

// Brief is what is kept of a process to compare it with others.
type Brief struct {
	*stream.Process
	Died    bool
	Alive   bool
	Markers []BriefMarker // those that took most time
	Error   string        // the error that it logged most; "" none
	CPU     float64       // seconds

	id stream.ProcessID
}

// BriefMarker is what one marker of a process adds up to.
type BriefMarker struct {
	Name   string
	Count  float64
	Timed  float64
	Took   float64 // seconds
	Logs   float64 // sum of the logarithms of the seconds that they took
	Failed float64
}

func newBriefMarker(m *facts.Marker) BriefMarker {
	b := BriefMarker{Name: m.Name, Count: m.Count.Total(), Timed: m.Timed.Total(), Took: m.Took.Total(), Failed: m.Failed.Total()}
	if b.Timed > 0 {
		b.Logs = b.Timed * math.Log(m.Typical())
	}
	return b
}

// typical is how long markers typically took, in seconds.
func (m *BriefMarker) typical() float64 {
	if m.Timed == 0 {
		return 0
	}
	return math.Exp(m.Logs / m.Timed)
}

// add adds what another process did.
func (m *BriefMarker) add(o BriefMarker) {
	*m = BriefMarker{o.Name, m.Count + o.Count, m.Timed + o.Timed, m.Took + o.Took, m.Logs + o.Logs, m.Failed + o.Failed}
}

// briefMarkers is how many markers of a process are compared with those of others.
const briefMarkers = 20

// brief is what is kept of a process.
func (p *Process) brief() *Brief {
	b := &Brief{Process: p.Process, Died: p.Died(), Alive: p.Alive, id: p.ID}
	for _, m := range p.Markers[:min(briefMarkers, len(p.Markers))] {
		b.Markers = append(b.Markers, newBriefMarker(m))
	}
	for _, m := range p.Messages {
		if m.IsError() && b.Error == "" {
			b.Error = m.Text
		}
	}
	if c := p.Counter(stream.CounterProcessCPU); c != nil {
		b.CPU = c.Last
	}
	return b
}

// briefs are those of all processes, also of those of which nothing but their beginning and end is known.
func (s *Sink) briefs() []*Brief {
	for i := range s.tables.Processes {
		id := stream.ProcessID(i + 1)
		if !slices.ContainsFunc(s.kept, func(b *Brief) bool { return b.id == id }) {
			p := &Process{Facts: &facts.Facts{ID: id, Process: s.tables.Process(id)}}
			p.Alive = s.alive(p.Process)
			s.kept = append(s.kept, p.brief())
		}
	}
	slices.SortFunc(s.kept, func(a, b *Brief) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.id, b.id)) })
	return s.kept
}

// Lived is for how long the process was recorded.
func (b *Brief) Lived() time.Duration { return time.Duration(b.End - b.Start) }

// by groups processes, in the order in which the groups began.
func by(all []*Brief, key func(*Brief) string) (groups [][]*Brief) {
	at := map[string]int{}
	for _, b := range all {
		i, known := at[key(b)]
		if !known {
			i = len(groups)
			at[key(b)] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], b)
	}
	return groups
}

// service is what a process is an instance of.
func service(b *Brief) string { return cmp.Or(b.Service, b.Name) }

// ids are those of processes.
func ids(all []*Brief) (list []stream.ProcessID) {
	for _, b := range all {
		list = append(list, b.id)
	}
	return list
}
