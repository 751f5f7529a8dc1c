package filter

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unsafe"

	"gprof/stream"
	"gprof/stream/redact"
)

// DuringOptions are the options of [During].
type DuringOptions struct {
	// All keeps everything that happened meanwhile, not only on the same goroutine or
	// track.
	All bool
	// SpillDir is where rows are kept until all markers are known; "" is os.TempDir. It
	// should not be in memory.
	SpillDir string
	// Redact, if set, redacts rows before they are kept there; queries see them before.
	// Its Source must be given the Source that During returns.
	Redact *redact.Redactor
}

// During returns a Source of what happened in src during the markers that match a query:
// events of the marker's own goroutine; of its track if goroutines are unknown; of the
// whole process if the marker has no track either. Intervals that reach into that time
// stay whole. Rows of no track stay if they are in the time of any such marker of their
// process. Pages stay.
//
// A start lasts until its end: of the same event, track and, if known, goroutine; the
// last start is paired first. A start without an end lasts until the last event of its
// process, an end without a start begins with the first one.
//
// The Source ends with an [ErrNoMatch] if no marker matches. It is a [Progress] if src
// is, and closes src if it can be closed.
func During(src stream.Source, queries []Query, o DuringOptions) stream.Source {
	d := &duringFilter{tables: src.Tables(), queries: queries, all: o.All,
		lives: make(map[stream.ProcessID]*span), called: Names{}, longest: -1,
		traces: make(map[[2]uint64]bool), labelSpans: make(map[stream.LabelsID]stream.Span)}
	for i := range queries {
		if queries[i].isTrace() {
			d.traces[queries[i].trace] = true
		}
	}
	again := &replay{Wrapper: stream.Wrapper{Source: src}, see: o.Redact.After(d.tables, d.see), spool: stream.NewSpool(o.SpillDir)}
	return newFilter(again, rule{name: "during", keep: d.keep, end: d.end})
}

// duringFilter collects the times of markers, then keeps the rows in them.
type duringFilter struct {
	tables  *stream.Tables
	queries []Query
	all     bool

	events []*eventQueries // by EventID
	points []point
	spans  spanSet
	mains  []choice                   // by TrackID: whether it is a main one
	lives  map[stream.ProcessID]*span // from the first to the last event
	claim  stream.Claim               // of the times
	ready  bool

	traces     map[[2]uint64]bool // that are asked for
	labelSpans map[stream.LabelsID]stream.Span
	own        bool // a row says itself that it is of one of them

	// For the error.
	called  Names // of events with rows, and those that markers have of their own
	named   int64 // markers that a query names
	longest int64 // of them
}

// eventQueries is an event and the queries that name it.
type eventQueries struct {
	queries []boundQuery
	named   bool // by one of them, at least one marker
}

// boundQuery is a query of one event.
type boundQuery struct {
	*Query
	number  int
	own     int // the argument that must be the query's name; -1: the event's is
	ids     stream.SpanFields
	columns []int // of each condition: the argument, or one of these
}

const (
	columnDuration = -1
	columnNone     = -2
)

// point is a start or an end of an event that a query names.
type point struct {
	series    stream.Series
	query     int
	goroutine uint64
	at        stream.Time
	index     uint64
	phase     stream.Phase
	holds     uint64 // bits of the conditions that are true
}

// see notes the markers in a batch.
func (d *duringFilter) see(b *stream.Batch) error {
	if b.Series.Kind != stream.Pages { // pages may be from any time
		d.live(b)
	}
	if b.Series.Kind != stream.Markers {
		return nil
	}
	e := d.event(b.Series.Event)
	for k := range e.queries {
		f := &e.queries[k]
		for i := range b.Time {
			if f.names(b, i) {
				d.named++
				e.named = true
				d.marker(f, b, i)
			} else if d.named == 0 {
				d.called.Add(f.ownName(b, i))
			}
		}
	}
	d.setClaim()
	return nil
}

// live extends the known lifetime of a process.
func (d *duringFilter) live(b *stream.Batch) {
	l := d.lives[b.Series.Process]
	if l == nil {
		l = &span{from: math.MaxInt64, to: math.MinInt64}
		d.lives[b.Series.Process] = l
	}
	for i := range b.Time {
		from, to := extent(b, i)
		l.from, l.to = min(l.from, from), max(l.to, to)
	}
}

// extent is when row i begins and ends.
func extent(b *stream.Batch, i int) (from, to stream.Time) {
	from = b.Time[i]
	if len(b.Duration) == 0 || b.Duration[i] <= 0 {
		return from, from
	}
	if to = from + stream.Time(b.Duration[i]); to < from {
		return from, math.MaxInt64
	}
	return from, to
}

// event binds the queries to an event, once.
func (d *duringFilter) event(id stream.EventID) *eventQueries {
	for int(id) >= len(d.events) {
		d.events = append(d.events, nil)
	}
	if d.events[id] != nil {
		return d.events[id]
	}
	d.tables.Lock()
	e := *d.tables.Event(id)
	d.tables.Unlock()
	d.called[e.Name] = true
	d.events[id] = new(eventQueries)
	for i := range d.queries {
		if d.queries[i].isTrace() && !e.SpanFields().Any() {
			continue
		}
		if e.NameArg() >= 0 || d.queries[i].Name.Match(e.Name) {
			d.events[id].queries = append(d.events[id].queries, fit(&d.queries[i], i, &e))
		}
	}
	return d.events[id]
}

// names reports whether row i of b is called as in the query, or is a span of its trace.
func (f *boundQuery) names(b *stream.Batch, i int) bool {
	if f.isTrace() {
		s, ok := f.ids.At(b, i)
		return ok && s.Trace == f.trace
	}
	return f.own < 0 || b.Args[f.own].TypeAt(i) == stream.Text && f.Name.Match(string(b.Args[f.own].TextAt(i)))
}

// ownName is the name of its own that row i of b has, if the query does not name the event; nil if it has none.
func (f *boundQuery) ownName(b *stream.Batch, i int) []byte {
	if f.own < 0 || b.Args[f.own].TypeAt(i) != stream.Text {
		return nil
	}
	return b.Args[f.own].TextAt(i)
}

func fit(q *Query, number int, e *stream.Event) boundQuery {
	f := boundQuery{Query: q, number: number, own: -1, ids: e.SpanFields()}
	if !q.Name.Match(e.Name) {
		f.own = e.NameArg()
	}
	for _, c := range q.conditions {
		column := columnDuration
		if c.field != durationField {
			if column = slices.IndexFunc(e.Fields, func(field stream.EventField) bool { return field.Name == c.field }); column < 0 {
				column = columnNone
			}
		}
		f.columns = append(f.columns, column)
	}
	return f
}

// holds returns the bits of the conditions that row i of b fulfils, apart from those on
// the duration.
func (f *boundQuery) holds(b *stream.Batch, i int) (bits uint64) {
	for k, column := range f.columns {
		if column >= 0 && column < len(b.Args) && f.conditions[k].holds(&b.Args[column], i) {
			bits |= 1 << k
		}
	}
	return bits
}

// fieldBits are the bits of all conditions apart from those on the duration.
func (q *Query) fieldBits() (bits uint64) {
	for i := range q.conditions {
		if q.conditions[i].field != durationField {
			bits |= 1 << i
		}
	}
	return bits
}

// marker notes a marker that a query names.
func (d *duringFilter) marker(f *boundQuery, b *stream.Batch, i int) {
	holds := f.holds(b, i)
	switch b.Phase[i] {
	case stream.PhaseStart, stream.PhaseEnd:
		d.points = append(d.points, point{b.Series, f.number, uint64(b.Owner(i).Goroutine), b.Time[i], b.Index[i], b.Phase[i], holds})
	default:
		from, to := extent(b, i)
		d.found(f.Query, holds == f.fieldBits(), span{scope{b.Series.Process, ofTrack, uint64(b.Series.Track)}, from, to}, uint64(b.Owner(i).Goroutine))
	}
}

// found adds the time of a marker that fulfils the query; the scope of x is that of its
// track.
func (d *duringFilter) found(q *Query, fulfils bool, x span, goroutine uint64) {
	ns := int64(x.to - x.from)
	d.longest = max(d.longest, ns)
	if !fulfils || !q.Lasts(ns, nil) {
		return
	}
	track := x.scope
	add := func(s scope) {
		x.scope = s
		d.spans.add(x)
	}
	if d.all {
		add(scope{})
		return
	}
	if goroutine == 0 && d.main(stream.TrackID(track.id)) {
		add(scope{process: track.process, of: ofWhole})
		return
	}
	add(track)
	add(scope{process: track.process, of: ofProcess})
	if goroutine != 0 {
		add(scope{track.process, ofGoroutine, goroutine})
	} else {
		add(scope{track.process, ofStranger, track.id})
	}
}

// main reports whether a track is the main one, of events without a track.
func (d *duringFilter) main(id stream.TrackID) bool {
	d.mains = grown(d.mains, int(id))
	if d.mains[id] == unasked {
		d.tables.Lock()
		d.mains[id] = chosen(d.tables.Tracks.At(id).Main)
		d.tables.Unlock()
	}
	return d.mains[id] == yes
}

// setClaim tells the tables how much memory the times take.
func (d *duringFilter) setClaim() {
	now := d.spans.bytes() + int64(cap(d.points))*int64(unsafe.Sizeof(point{}))
	if now == d.claim.Bytes() {
		return
	}
	d.tables.Lock()
	defer d.tables.Unlock()
	d.claim.Set(d.tables, now)
}

// keep keeps the rows whose scope has a span at their time.
func (d *duringFilter) keep(b *stream.Batch, rows []int32) []int32 {
	d.settle()
	if b.Series.Kind == stream.Pages {
		return allRows(b, rows)
	}
	for i := range b.Time {
		if d.wants(b, i) || d.ownTrace(b, i) {
			rows = append(rows, int32(i))
		}
	}
	return rows
}

func (d *duringFilter) wants(b *stream.Batch, i int) bool {
	from, to := extent(b, i)
	s := &b.Series
	track := uint64(s.Track)
	switch g := uint64(b.Owner(i).Goroutine); {
	case d.all:
		return d.spans.touches(scope{}, from, to)
	case d.spans.touches(scope{process: s.Process, of: ofWhole}, from, to):
		return true
	case !s.Kind.Tracked():
		return d.spans.touches(scope{process: s.Process, of: ofProcess}, from, to)
	case g == 0:
		return d.spans.touches(scope{s.Process, ofTrack, track}, from, to)
	default:
		return d.spans.touches(scope{s.Process, ofGoroutine, g}, from, to) || d.spans.touches(scope{s.Process, ofStranger, track}, from, to)
	}
}

// settle pairs starts and ends, when all are known, and unites all times.
//
//  1. Within each goroutine the last start is paired first.
//  2. The rest is paired in the same way within each track: an end may come from
//     another goroutine.
//  3. Points that are still alone last from the beginning, or to the end.
func (d *duringFilter) settle() {
	if d.ready {
		return
	}
	d.ready = true
	left := d.pair(d.points, func(p *point) uint64 { return p.goroutine })
	left = d.pair(left, func(*point) uint64 { return 0 })
	for i := range left {
		p, life := &left[i], d.lives[left[i].series.Process]
		if p.phase == stream.PhaseStart {
			d.last(p, p, p.at, life.to)
		} else {
			d.last(p, p, life.from, p.at)
		}
	}
	d.points = nil
	d.spans.unite()
}

// pair pairs starts and ends of the same event and track for which by returns the same,
// and returns the rest.
func (d *duringFilter) pair(points []point, by func(*point) uint64) (left []point) {
	order := func(a, b *point) int {
		return cmp.Or(cmp.Compare(a.query, b.query), cmp.Compare(a.series.Process, b.series.Process), cmp.Compare(a.series.Track, b.series.Track),
			cmp.Compare(a.series.Event, b.series.Event), cmp.Compare(by(a), by(b)))
	}
	slices.SortFunc(points, func(a, b point) int {
		return cmp.Or(order(&a, &b), cmp.Compare(a.at, b.at), cmp.Compare(a.index, b.index))
	})
	base := 0 // of the open starts of a group, in left
	for i := range points {
		p := &points[i]
		if i > 0 && order(&points[i-1], p) != 0 {
			base = len(left)
		}
		n := len(left) - 1
		if p.phase == stream.PhaseEnd && n >= base && left[n].phase == stream.PhaseStart {
			d.last(&left[n], p, left[n].at, p.at)
			left = left[:n]
			continue
		}
		left = append(left, *p)
	}
	return left
}

// last adds the time between a start and its end. Either may have the fields.
func (d *duringFilter) last(start, end *point, from, to stream.Time) {
	q := &d.queries[start.query]
	fulfils := start.holds|end.holds == q.fieldBits()
	x := span{scope{start.series.Process, ofTrack, uint64(start.series.Track)}, from, to}
	d.found(q, fulfils, x, start.goroutine)
	if end.goroutine != start.goroutine {
		d.found(q, fulfils, x, end.goroutine)
	}
}

// end returns an error that lists what there is if no marker matched.
func (d *duringFilter) end(*stream.Tables) error {
	d.settle()
	switch {
	case len(d.spans.list) > 0 || d.own:
		return nil
	case d.named > 0:
		return fmt.Errorf("%w: none of %d markers is as in %s; their fields are %s, and the longest took %v",
			ErrNoMatch, d.named, d.asked(), strings.Join(d.fields(), ", "), time.Duration(max(d.longest, 0)))
	}
	if len(d.traces) == len(d.queries) {
		return fmt.Errorf("%w: nothing is part of %s", ErrNoMatch, d.asked())
	}
	return NoMatch(fmt.Sprintf("no marker is called as in %s", d.asked()), d.called.List())
}

// asked is the queries, for an error.
func (d *duringFilter) asked() string {
	var texts []string
	for i := range d.queries {
		texts = append(texts, d.queries[i].String())
	}
	return strings.Join(texts, " or ")
}

// fields are those of the markers that a query names.
func (d *duringFilter) fields() []string {
	names := []string{durationField}
	for id, e := range d.events {
		if e != nil && e.named {
			for _, f := range d.tables.Event(stream.EventID(id)).Fields {
				names = append(names, shown(f.Name))
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
