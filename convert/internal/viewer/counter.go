package viewer

import (
	"gprof/convert/internal/jsontext"
	"gprof/stream"
)

// WriteCounterAbout writes the member of a counter that tells of it what the formats
// have no place for: they draw it by a category that may not be its own.
func WriteCounterAbout(out *jsontext.Writer, c *stream.Counter) {
	out.Key("gprof")
	out.BeginObject()
	if c.Category != "" {
		member(out, "category", c.Category)
	}
	if c.Unit != stream.FormatInteger && c.Unit < stream.NumFormats {
		member(out, "unit", unitName(c.Unit))
	}
	for _, m := range []struct {
		key   string
		value bool
	}{{"total", c.Total}, {"own", c.Own}} {
		if m.value {
			out.Key(m.key)
			out.Bool(true)
		}
	}
	out.EndObject()
}

// unitName is the name of the unit of a counter: that of the viewer's formats, but for
// one that they don't have.
func unitName(unit stream.Format) string {
	if unit == stream.FormatPicowatt {
		return "pWh"
	}
	return formats[unit].name
}
