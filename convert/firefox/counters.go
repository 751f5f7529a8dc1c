package firefox

import (
	"cmp"

	"gprof/convert/internal/jsontext"
	"gprof/convert/internal/viewer"
	"gprof/stream"
)

// counter is the current counter. A row is a change.
type counter struct {
	id      stream.CounterID // 0 before the first
	changes viewer.Changes
	rows    int64
	ops     bool    // a number was seen
	columns columns // times, changes, operations
}

func (s *Sink) counts(b *stream.Batch) {
	c := &s.counter
	if id := b.Series.Counter; id != c.id {
		s.endCounter()
		c.id = id
	}
	c.changes.Rows(b, c.add)
	c.columns.flush()
}

func (c *counter) add(change viewer.Change) {
	c.rows++
	c.ops = c.ops || change.Number != 0
	c.columns.add(int64(change.At), change.Count, change.Number)
}

// endCounter writes the current counter, if any.
func (s *Sink) endCounter() {
	c := &s.counter
	if c.id == 0 {
		return
	}
	c.changes.End(c.add)
	c.columns.flush()
	row := s.tables.Counters.At(c.id)
	s.lost.Repeated(row.Process, c.changes.Repeated)
	look := styleOf(&row)
	out := s.counted.Writer
	out.BeginObject()
	for _, m := range []struct{ key, value string }{
		{"name", row.Name}, {"category", look.category}, {"description", row.Description}, {"pid", s.pid()},
	} {
		out.Member(m.key, m.value)
	}
	viewer.WriteCounterAbout(out, &row)
	out.Number("mainThreadIndex", int64(s.main))
	out.Key("samples")
	s.writeCounts(out, look.format)
	out.Key("display")
	look.write(out, &row)
	out.EndObject()
	s.columns.Reset()
	c.id, c.changes, c.rows, c.ops = 0, viewer.Changes{}, 0, false
}

// writeCounts writes the rows. Numbers of operations are left out if there are none.
func (s *Sink) writeCounts(out *jsontext.Writer, format format) {
	c := &s.counter
	out.BeginObject()
	writeColumnTo(out, "time", &c.columns[0], s.appendTime)
	writeColumnTo(out, "count", &c.columns[1], format)
	if c.ops {
		writeColumnTo(out, "number", &c.columns[2], appendInt)
	} else {
		c.columns[2].roll.Drain(func([]byte) {})
	}
	out.Number("length", c.rows)
	out.EndObject()
}

// appendTime appends a stream.Time.
func (s *Sink) appendTime(dst []byte, at int64) []byte {
	return jsontext.AppendMillis(dst, s.ms(stream.Time(at)))
}

// counterStyle is how the viewer draws a counter: as a level, or as a rate.
type counterStyle struct {
	category string
	graph    string // line-accumulated: level; line-rate: change by time
	unit     string
	color    string
	markers  string // displays of markers to draw over it
	weight   int64  // low ones come first
	rows     string // of the tooltip
	format   format
}

const (
	level = "line-accumulated"
	rate  = "line-rate"
)

// styleOf chooses by the unit, and by whether the value counts up. Time is written in milliseconds:
// per millisecond it is a share of a core, or of the time.
func styleOf(c *stream.Counter) counterStyle {
	other := cmp.Or(c.Category, stream.Other.Name)
	switch {
	case c.Unit == stream.FormatPicowatt:
		return counterStyle{"power", rate, "pWh", "grey", "", 30, powerRows, appendInt}
	case c.Unit == stream.FormatBytes && c.Total:
		return counterStyle{cmp.Or(c.Category, "Bandwidth"), rate, "bytes", "blue", "", 10, bandwidthRows, appendInt}
	case c.Unit == stream.FormatBytes:
		return counterStyle{"Memory", level, "bytes", "orange", "timeline-memory", 20, memoryRows, appendInt}
	case c.Unit == stream.FormatNanoseconds && c.Total && (c.Category == "" || c.Category == "CPU"):
		return counterStyle{"CPU", rate, "percent", "grey", "", 40, timeRows("one core"), jsontext.AppendMillis}
	case c.Unit == stream.FormatNanoseconds && c.Total:
		return counterStyle{other, rate, "percent", "grey", "", 45, timeRows("the time"), jsontext.AppendMillis}
	case c.Unit == stream.FormatNanoseconds:
		return counterStyle{other, level, "", "purple", "", 50, levelRows("ms"), jsontext.AppendMillis}
	case c.Total:
		return counterStyle{other, rate, "", "grey", "", 50, totalRows, appendInt}
	}
	return counterStyle{other, level, "", "purple", "", 50, levelRows(""), appendInt}
}

func (l *counterStyle) write(out *jsontext.Writer, c *stream.Counter) {
	out.BeginObject()
	for _, m := range []struct{ key, value string }{
		{"graphType", l.graph}, {"unit", l.unit}, {"color", l.color}, {"label", c.Name},
	} {
		out.Member(m.key, m.value)
	}
	out.Key("markerSchemaLocation")
	if l.markers == "" {
		out.Null()
	} else {
		out.String(l.markers)
	}
	out.Number("sortWeight", l.weight)
	out.Value("tooltipRows", l.rows)
	out.EndObject()
}

// Rows of tooltips. A key is the name by which the viewer knows a label in
// other languages.
const (
	memoryRows = `[{"type":"value","source":"accumulated","format":{"unit":"bytes"},"label":"above the lowest in the graph"},` +
		`{"type":"value","source":"count-range","format":{"unit":"bytes"},"label":"memory range in graph","labelKey":"memory-range"},` +
		`{"type":"value","source":"sample-number","format":{"unit":"number"},"label":"allocations and deallocations since the previous sample","labelKey":"memory-operations"}]`
	bandwidthRows = `[{"type":"value","source":"rate","format":{"unit":"bytes-per-second"},"label":"Transfer speed for this sample"},` +
		`{"type":"value","source":"sample-number","format":{"unit":"number"},"label":"operations since the previous sample"},` +
		`{"type":"separator"},` +
		`{"type":"value","source":"committed-range-total","format":{"unit":"bytes"},"label":"in the visible range"},` +
		`{"type":"value","source":"selection-total","format":{"unit":"bytes"},"label":"in the current selection","requiresPreviewSelection":true}]`
	powerRows = `[{"type":"value","source":"count","format":{"unit":"number","co2":"per-watthour","scale":"power"},"label":"Power","labelKey":"power"},` +
		`{"type":"value","source":"selection-total","format":{"unit":"number","co2":"per-watthour","scale":"energy"},"label":"Energy used in the current selection","labelKey":"power-energy-preview","requiresPreviewSelection":true},` +
		`{"type":"value","source":"committed-range-total","format":{"unit":"number","co2":"per-watthour","scale":"energy"},"label":"Energy used in the visible range","labelKey":"power-energy-range"}]`
	totalRows = `[{"type":"value","source":"count","format":{"unit":"number"},"label":"since the previous sample"},` +
		`{"type":"value","source":"committed-range-total","format":{"unit":"number"},"label":"in the visible range"},` +
		`{"type":"value","source":"selection-total","format":{"unit":"number"},"label":"in the current selection","requiresPreviewSelection":true},` +
		`{"type":"value","source":"sample-number","format":{"unit":"number"},"label":"operations since the previous sample"}]`
)

// timeRows are those of time that passes in something, as a share of a whole.
func timeRows(whole string) string {
	return `[{"type":"value","source":"rate","format":{"unit":"percent"},"label":"of ` + whole + `"},` +
		`{"type":"value","source":"selection-rate","format":{"unit":"percent"},"label":"of ` + whole + ` in the current selection","requiresPreviewSelection":true},` +
		`{"type":"value","source":"committed-range-total","format":{"unit":"number"},"label":"ms in the visible range"}]`
}

// levelRows are those of a level in some unit.
func levelRows(unit string) string {
	if unit != "" {
		unit = " (" + unit + ")"
	}
	return `[{"type":"value","source":"accumulated","format":{"unit":"number"},"label":"above the lowest in the graph` + unit + `"},` +
		`{"type":"value","source":"count-range","format":{"unit":"number"},"label":"range in graph` + unit + `"}]`
}
