package gotrace

import (
	"slices"
	"strings"

	"gprof/stream"
)

// marker is a kind of marker.
type marker uint8

const (
	callMarker marker = iota
	collectMarker
	sweepMarker
	assistMarker
	stopMarker
	rangeMarker
	taskMarker
	regionMarker
	logMarker
	labelMarker
	runMarker
	groupMarker
	stateMarker
	wakeMarker
	numMarkers
)

var (
	program    = stream.Category{Name: "Program", Color: "blue"}
	scheduling = stream.Category{Name: "Go runtime", Color: "orange"}
	collecting = stream.Category{Name: "Garbage collection", Color: "red"}
	systemCall = stream.Category{Name: "System call", Color: "yellow"}
	waitingFor = stream.Category{Name: "Waiting", Color: "grey"}
)

const (
	inChart    = stream.ShowChart | stream.ShowTable
	onTimeline = inChart | stream.ShowTimeline
)

// definition is an event and its category.
type definition struct {
	stream.Event
	category stream.Category
}

// definitions is the table of markers.
func definitions() [numMarkers]definition {
	return [numMarkers]definition{
		callMarker: {stream.Event{Name: "system call", Display: inChart, Fields: []stream.EventField{
			{Name: "blocked", Label: "Gave its processor away", Format: stream.FormatBool, Type: stream.Uint}}}, systemCall},
		collectMarker: {stream.Event{Name: "gc mark", Display: onTimeline}, collecting},
		sweepMarker: {stream.Event{Name: "gc sweep", Display: inChart, Fields: []stream.EventField{
			number("swept", "Swept", stream.FormatBytes), number("reclaimed", "Reclaimed", stream.FormatBytes)}}, collecting},
		assistMarker: {stream.Event{Name: "gc assist", Display: inChart}, collecting},
		stopMarker:   {stream.Event{Name: "stop the world", Display: onTimeline, Chart: "{marker.data.reason}", Fields: []stream.EventField{text("reason", "Reason")}}, scheduling},
		rangeMarker:  {stream.Event{Name: "range", Display: inChart, Chart: "{marker.data.name}", Fields: []stream.EventField{text("name", "Name")}}, scheduling},
		taskMarker: {stream.Event{Name: "task", Display: onTimeline, Chart: "{marker.data.name}", Fields: []stream.EventField{
			text("name", "Name"), number("task", "Task", stream.FormatInteger), number("parent", "Parent task", stream.FormatInteger)}}, program},
		regionMarker: {stream.Event{Name: "region", Display: inChart, Chart: "{marker.data.name}", Fields: []stream.EventField{
			text("name", "Name"), number("task", "Task", stream.FormatInteger)}}, program},
		logMarker: {stream.Event{Name: "log", Display: inChart, Chart: "{marker.data.message}", Fields: []stream.EventField{
			text("category", "Category"), {Name: "message", Label: "Message", Type: stream.Text, Format: stream.FormatText, Privacy: stream.PrivacySecret, Searchable: true},
			number("task", "Task", stream.FormatInteger)}}, program},
		labelMarker: {stream.Event{Name: "goroutine label", Display: inChart, Chart: "{marker.data.label}", Fields: []stream.EventField{text("label", "Label")}}, scheduling},
		runMarker: {stream.Event{Name: "running", Display: onTimeline, Chart: "{marker.data.function}", Fields: []stream.EventField{
			text("function", "Root function"), text("until", "Until")}}, program},
		groupMarker: {stream.Event{Name: "goroutines", Display: stream.ShowTable, Fields: []stream.EventField{
			number("created", "Created", stream.FormatInteger), number("ended", "Ended", stream.FormatInteger),
			number("running", "Running", stream.FormatNanoseconds), number("runnable", "Runnable", stream.FormatNanoseconds),
			number("waiting", "Waiting", stream.FormatNanoseconds), number("calling", "In system calls", stream.FormatNanoseconds)}}, scheduling},
		stateMarker: {stream.Event{Name: StateEvent, Display: stream.ShowTable, Chart: "{marker.data.state}", Fields: []stream.EventField{
			text("state", "State"), text("reason", "Reason")}}, scheduling},
		wakeMarker: {stream.Event{Name: WakeEvent, Display: stream.ShowTable, Fields: []stream.EventField{number("by", "By the goroutine", stream.FormatInteger)}}, scheduling},
	}
}

func number(name, label string, f stream.Format) stream.EventField {
	return stream.EventField{Name: name, Label: label, Type: stream.Uint, Format: f}
}

// text is a field of text that comes from code.
func text(name, label string) stream.EventField {
	return stream.EventField{Name: name, Label: label, Type: stream.Text, Format: stream.FormatString, Searchable: true}
}

// argument is a field's value: a number, a text, or nothing.
type argument struct {
	text string
	num  uint64
	typ  stream.Type
}

func textOf(s string) argument    { return argument{text: s, typ: stream.Text} }
func numberOf(n uint64) argument  { return argument{num: n, typ: stream.Uint} }
func durationOf(n int64) argument { return numberOf(uint64(max(n, 0))) }

// taskOf is the number of a task; nothing for the background task, and none.
func taskOf(id uint64) argument {
	if id == noTask || id == taskless {
		return argument{}
	}
	return numberOf(id)
}

func flag(b bool) argument {
	if b {
		return numberOf(1)
	}
	return numberOf(0)
}

// place is the track, time, owner and stack of a row.
type place struct {
	time  int64 // of the trace
	at    stream.Time
	track stream.TrackID
	stack stream.StackID
	who   stream.Owner
}

// mark adds a marker; duration is that of an interval.
func (s *Source) mark(m marker, p *place, phase stream.Phase, duration int64, args ...argument) {
	b := s.rows.Row(stream.Series{Process: s.process, Kind: stream.Markers, Track: p.track, Event: s.event(m)}, len(s.definitions[m].Fields), p.at)
	b.AppendOwner(p.who)
	b.Stack = append(b.Stack, p.stack)
	b.Phase, b.Duration = append(b.Phase, phase), append(b.Duration, duration)
	for i := range b.Args {
		args[i].add(&b.Args[i])
	}
}

// add adds a row to the column of a.
func (a argument) add(to *stream.Column) {
	switch a.typ {
	case stream.Null:
		to.AppendNull()
	case stream.Text:
		to.AppendText([]byte(a.text))
	default:
		to.AppendBits(a.typ, a.num)
	}
}

// event is the event of a marker.
func (s *Source) event(m marker) stream.EventID {
	if s.events[m] == 0 {
		d := &s.definitions[m]
		s.tables.Lock()
		d.Category = s.tables.Categories.Intern(d.category)
		s.events[m] = s.tables.AddEvent(d.Event)
		s.tables.Unlock()
	}
	return s.events[m]
}

// taskBegins begins a task, shown on the track where it began.
func (s *Source) taskBegins(ev *event) {
	p, _ := s.here(ev)
	s.tasks[ev.task] = &interval{place: p, begun: true, name: ev.name, task: ev.task, parent: ev.parent}
}

func (s *Source) taskEnds(ev *event) {
	t := s.tasks[ev.task]
	delete(s.tasks, ev.task)
	if t == nil {
		p, _ := s.here(ev)
		t = &interval{place: p, name: ev.name, task: ev.task, parent: ev.parent}
		s.markTask(t, stream.PhaseEnd, 0)
		return
	}
	s.markTask(t, stream.Interval, max(ev.time-t.time, 0))
}

// taskOpen adds the marker of a task that has not ended.
func (s *Source) taskOpen(t *interval) { s.markTask(t, stream.PhaseStart, 0) }

func (s *Source) markTask(t *interval, phase stream.Phase, duration int64) {
	s.mark(taskMarker, &t.place, phase, duration, textOf(t.name), taskOf(t.task), taskOf(t.parent))
}

// regionBegins begins a region within a goroutine. Without a goroutine there is only the beginning.
func (s *Source) regionBegins(ev *event) {
	p, g := s.here(ev)
	r := interval{place: p, begun: true, name: ev.name, task: ev.task}
	if g == nil {
		s.regionOpen(&r)
		return
	}
	g.regions = append(g.regions, r)
}

// regionEnds ends a region. Regions are nested; those begun inside without an end of their own stay
// open.
func (s *Source) regionEnds(ev *event) {
	g := s.current(ev)
	at := -1
	if g != nil {
		for i, r := range slices.Backward(g.regions) {
			if r.name == ev.name && r.task == ev.task {
				at = i
				break
			}
		}
	}
	if at < 0 {
		s.markRegion(&interval{place: s.place(ev, ev.goroutine, g), name: ev.name, task: ev.task}, stream.PhaseEnd, 0)
		return
	}
	r := g.regions[at]
	g.regions = slices.Delete(g.regions, at, at+1)
	s.markRegion(&r, stream.Interval, max(ev.time-r.time, 0))
}

// regionOpen adds the marker of a region that has not ended.
func (s *Source) regionOpen(r *interval) { s.markRegion(r, stream.PhaseStart, 0) }

func (s *Source) markRegion(r *interval, phase stream.Phase, duration int64) {
	s.mark(regionMarker, &r.place, phase, duration, textOf(r.name), taskOf(r.task))
}

func (s *Source) logged(ev *event) {
	p, _ := s.here(ev)
	s.mark(logMarker, &p, stream.Instant, 0, textOf(ev.name), textOf(ev.text), taskOf(ev.task))
}

func (s *Source) labelled(ev *event) {
	p, _ := s.here(ev)
	s.mark(labelMarker, &p, stream.Instant, 0, textOf(ev.name))
}

// Names of ranges.
const (
	markRange   = "GC concurrent mark phase"
	sweepRange  = "GC incremental sweep"
	assistRange = "GC mark assist"
	stopRange   = "stop-the-world ("
)

// rangeKey identifies a range: there is one of each name and scope at a time.
type rangeKey struct {
	scope scope
	id    int64
	name  string
}

// rangeBegins begins a range, or notes one that began before the trace.
func (s *Source) rangeBegins(ev *event) {
	k := rangeKey{ev.scope, ev.id, ev.name}
	if s.ranges[k] != nil {
		return // it is restated in each generation
	}
	s.ranges[k] = &interval{place: s.rangePlace(ev), begun: ev.kind == kindRangeBegin}
	s.collects(k, ev, s.ranges[k])
}

func (s *Source) rangeEnds(ev *event) {
	k := rangeKey{ev.scope, ev.id, ev.name}
	r := s.ranges[k]
	delete(s.ranges, k)
	s.collects(k, ev, nil)
	if r == nil || !r.begun {
		p := s.rangePlace(ev)
		s.markRange(k, &p, stream.PhaseEnd, 0, ev.values)
		return
	}
	s.markRange(k, &r.place, stream.Interval, max(ev.time-r.time, 0), ev.values)
}

// rangeOpen adds the marker of a range that has not ended.
func (s *Source) rangeOpen(k rangeKey, r *interval) {
	if r.begun {
		s.markRange(k, &r.place, stream.PhaseStart, 0, [2]uint64{})
	}
}

// rangePlace is where a range is shown: stops of the world are on the main track.
func (s *Source) rangePlace(ev *event) place {
	p, _ := s.here(ev)
	if ev.scope == wholeProcess || strings.HasPrefix(ev.name, stopRange) {
		p.track = s.tracks.main
	}
	return p
}

func (s *Source) markRange(k rangeKey, p *place, phase stream.Phase, duration int64, values [2]uint64) {
	reason, stops := strings.CutPrefix(k.name, stopRange)
	switch {
	case stops:
		s.mark(stopMarker, p, phase, duration, textOf(strings.TrimSuffix(reason, ")")))
	case k.name == markRange:
		s.mark(collectMarker, p, phase, duration)
	case k.name == sweepRange:
		s.mark(sweepMarker, p, phase, duration, numberOf(values[0]), numberOf(values[1]))
	case k.name == assistRange:
		s.mark(assistMarker, p, phase, duration)
	default:
		s.mark(rangeMarker, p, phase, duration, textOf(k.name))
	}
}
