package gotrace

import "gprof/stream"

// marker is what a marker of a trace is about.
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
	}
}

func number(name, label string, f stream.Format) stream.EventField {
	return stream.EventField{Name: name, Label: label, Type: stream.Uint, Format: f}
}

// text is a field of a text that the code of the program, or of Go, says.
func text(name, label string) stream.EventField {
	return stream.EventField{Name: name, Label: label, Type: stream.Text, Format: stream.FormatString, Searchable: true}
}

// argument is a value of a field: a number, a text, or nothing.
type argument struct {
	text string
	num  uint64
	typ  stream.Type
}

func textOf(s string) argument    { return argument{text: s, typ: stream.Text} }
func numberOf(n uint64) argument  { return argument{num: n, typ: stream.Uint} }
func durationOf(n int64) argument { return numberOf(uint64(max(n, 0))) }

// taskOf is the number of a task; nothing for that of the background, and none.
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

// place is where and when something is: on which track, whose, at which stack.
type place struct {
	time  int64 // of the trace
	at    stream.Time
	track stream.TrackID
	stack stream.StackID
	who   stream.Who
}

// mark adds a marker. A duration is that of an interval.
func (s *Source) mark(m marker, p *place, phase stream.Phase, duration int64, args ...argument) {
	b := s.rows.Row(stream.Series{Process: s.process, Kind: stream.Markers, Track: p.track, Event: s.event(m)}, len(s.definitions[m].Fields), p.at)
	b.AppendWho(p.who)
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

// event is the id of the event of a marker.
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
