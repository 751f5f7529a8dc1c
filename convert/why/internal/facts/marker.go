package facts

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"gprof/convert/internal/durations"
	"gprof/stream"
)

// maxMarkers bounds the markers with names of their own; further ones are called by their event.
const maxMarkers = 2000

// maxOpen bounds the starts of one marker that wait for their ends.
const maxOpen = 1 << 12

// Marker is all markers of one name. Intervals count where they ended.
type Marker struct {
	Name    string
	Event   string // of the definition; markers may have names of their own
	Track   bool   // unused tracks
	Count   Series
	Timed   Series // those with a duration
	Took    Series // seconds, of all of them
	Longest Series // seconds
	Failed  Series // those whose fields tell of an error
	Within  Series // seconds that markers were in progress, at their time
	Slowest durations.Slowest

	open []stream.Time
	took float64
	logs float64 // sum of the logarithms of durations
}

// Typical is how long markers typically took, in seconds: the geometric mean, which a few that took very long
// hardly change; 0 if none did.
func (m *Marker) Typical() float64 {
	n := m.Timed.Total()
	if n == 0 {
		return 0
	}
	return math.Exp(m.logs / n)
}

// Mean is how long markers took in some steps, in seconds; 0 if none did.
func (m *Marker) Mean(from, to int) float64 {
	if n := m.Timed.Sum(from, to); n > 0 {
		return m.Took.Sum(from, to) / n
	}
	return 0
}

// markers collects the markers of a process.
type markers struct {
	line   Timeline
	byName map[string]*Marker
}

func (m *markers) reset(line Timeline) { m.line, m.byName = line, map[string]*Marker{} }

// find finds or adds a name.
func (m *markers) find(name string, e *stream.Event) *Marker {
	if known := m.byName[name]; known != nil {
		return known
	}
	if len(m.byName) >= maxMarkers {
		name = e.Name
	}
	known := m.byName[name]
	if known == nil {
		known = &Marker{Name: name, Event: e.Name}
		m.byName[name] = known
	}
	return known
}

// add adds the rows of a segment.
func (m *markers) add(b *stream.Batch, e *stream.Event) {
	arg, fails := e.NameArg(), newFailures(e)
	shared, spans := m.find(e.Name, e), e.SpanFields()
	traced := spans.Any() || len(b.Span) > 0
	for i := range b.Len() {
		one := shared
		if arg >= 0 && b.Args[arg].TypeAt(i) == stream.Text {
			one = m.find(string(b.Args[arg].TextAt(i)), e)
		}
		m.row(one, b, i)
		if traced {
			one.Slowest.Look(b, i, spans)
		}
		if fails.failed(b, i) {
			one.Failed[m.line.At(after(b.Time[i], b.Duration[i]))]++
		}
	}
	shared.open = nil
}

// row adds one row.
func (m *markers) row(one *Marker, b *stream.Batch, i int) {
	at := b.Time[i]
	switch b.Phase[i] {
	case stream.Instant:
		one.Count[m.line.At(at)]++
	case stream.Interval:
		m.took(one, at, after(at, b.Duration[i]))
	case stream.PhaseStart:
		if len(one.open) < maxOpen {
			one.open = append(one.open, at)
		}
	case stream.PhaseEnd:
		if last := len(one.open) - 1; last >= 0 {
			m.took(one, one.open[last], at)
			one.open = one.open[:last]
		}
	}
}

// after is the end of an interval, saturated.
func after(at stream.Time, ns int64) stream.Time {
	if end := at + stream.Time(max(0, ns)); end >= at {
		return end
	}
	return math.MaxInt64
}

// took adds an interval.
func (m *markers) took(one *Marker, from, to stream.Time) {
	step, seconds := m.line.At(to), (float64(to)-float64(from))/1e9
	one.Count[step]++
	one.Timed[step]++
	one.Took[step] += seconds
	one.Longest[step] = max(one.Longest[step], seconds)
	one.took += seconds
	one.logs += math.Log(math.Max(seconds, 1e-9))
	m.line.spread(&one.Within, from, to, seconds)
}

// all are the markers that there were.
func (m *markers) all() (all []*Marker) {
	for _, one := range m.byName {
		if one.Count.Total() > 0 {
			all = append(all, one)
		}
	}
	slices.SortFunc(all, func(a, b *Marker) int {
		return cmp.Or(cmp.Compare(b.took, a.took), cmp.Compare(b.Count.Total(), a.Count.Total()), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// failures finds rows whose fields tell of an error, by the names that most programs give such
// fields: a text "error" or "err" that is not empty, a "status" or "code" of 500 and above, as HTTP
// counts failures of the server.
type failures struct{ texts, codes []int }

func newFailures(e *stream.Event) (f failures) {
	for i, field := range e.Fields {
		switch name := strings.ToLower(field.Name); {
		case (name == "error" || name == "err") && field.Type == stream.Text:
			f.texts = append(f.texts, i)
		case (name == "status" || name == "code") && (field.Type == stream.Int || field.Type == stream.Uint):
			f.codes = append(f.codes, i)
		}
	}
	return f
}

// failed reports whether a row tells of an error.
func (f *failures) failed(b *stream.Batch, i int) bool {
	for _, arg := range f.texts {
		if b.Args[arg].TypeAt(i) == stream.Text && len(b.Args[arg].TextAt(i)) > 0 {
			return true
		}
	}
	for _, arg := range f.codes {
		if t := b.Args[arg].TypeAt(i); (t == stream.Int || t == stream.Uint) && b.Args[arg].BitsAt(i) >= 500 && b.Args[arg].BitsAt(i) < 600 {
			return true
		}
	}
	return false
}
