package gecko

import (
	"math"
	"strconv"

	"gprof/ingest/internal/jsonfile"
	"gprof/stream"
)

// value adds a value of a payload to its column. One that is not of the field's
// kind is added as what it is.
func (r *reader) value(c *stream.Column, f *field, raw []byte, m *markerTable) {
	if len(raw) == 0 {
		c.AppendNull()
		return
	}
	switch raw[0] {
	case 'n', '{', '[':
		m.appendJSON(c, f, raw)
		return
	case 't', 'f':
		if f.Format != stream.FormatBool {
			m.appendJSON(c, f, raw)
			return
		}
	}
	switch f.how {
	case asMillis:
		scaled(c, raw, 6, 0, m)
	case asMicros:
		scaled(c, raw, 3, 0, m)
	case asNanos:
		scaled(c, raw, 0, 0, m)
	case asTime:
		scaled(c, raw, 6, int64(r.zero), m)
	case asUnique:
		m.appendUnique(c, f, raw)
	case asFlow:
		m.appendFlow(c, f, raw)
	case asID:
		m.appendID(c, raw)
	case asNumber:
		m.appendNumber(c, raw)
	case asJSON, asMajor, asSlice, asMinor:
		m.appendJSON(c, f, raw)
	default:
		m.appendText(c, raw)
	}
}

// appendJSON adds a value as JSON.
func (m *markerTable) appendJSON(c *stream.Column, f *field, raw []byte) {
	m.text = m.text[:0]
	switch {
	case raw[0] != '{' || f.how < asMajor:
		m.text = m.compacted(raw)
	case f.how == asMinor:
		m.text = appendNursery(m.text, raw)
	default:
		m.text = appendTimings(m.text, raw, f.how == asMajor)
	}
	c.AppendTextual(stream.JSON, m.text)
}

// compacted is a value as JSON, null if it is none.
func (m *markerTable) compacted(raw []byte) []byte {
	text := compact(m.text[:0], raw)
	if string(text) == "null" && !isNull(raw) {
		m.badPayload(stream.ReasonMalformed, "JSON")
	}
	return text
}

// scaled adds a number, in ns since start, that counts units of 10^digits ns.
func scaled(c *stream.Column, raw []byte, digits int, start int64, m *markerTable) {
	if n, ok := jsonfile.Fixed(raw, digits); ok && (start == 0 || n < math.MaxInt64-start) {
		c.AppendBits(stream.Int, uint64(n+start))
		return
	}
	if f, err := strconv.ParseFloat(string(raw), 64); err == nil {
		c.AppendBits(stream.Float, math.Float64bits(f*math.Pow10(digits)+float64(start)))
		return
	}
	m.appendText(c, raw)
}

// appendNumber adds a number as it is; true is 1.
func (m *markerTable) appendNumber(c *stream.Column, raw []byte) {
	if n, ok := jsonfile.Int(raw); ok {
		c.AppendBits(stream.Int, uint64(n))
		return
	}
	switch string(raw) {
	case "true":
		c.AppendBits(stream.Int, 1)
		return
	case "false":
		c.AppendBits(stream.Int, 0)
		return
	}
	if n, err := strconv.ParseUint(string(raw), 10, 64); err == nil {
		c.AppendBits(stream.Uint, n)
	} else if f, err := strconv.ParseFloat(string(raw), 64); err == nil {
		c.AppendBits(stream.Float, math.Float64bits(f))
	} else {
		m.appendText(c, raw)
	}
}

// appendText adds a string, or another value as JSON.
func (m *markerTable) appendText(c *stream.Column, raw []byte) {
	if raw[0] != '"' {
		m.text = m.compacted(raw)
		c.AppendTextual(stream.JSON, m.text)
		return
	}
	m.text = jsonfile.AppendText(m.text[:0], raw)
	c.AppendText(m.text)
}

// appendUnique adds the string of a number.
func (m *markerTable) appendUnique(c *stream.Column, f *field, raw []byte) {
	if text, ok := m.texts.cell(raw); ok {
		c.AppendText(text)
		return
	}
	if raw[0] != '"' {
		m.badPayload(stream.ReasonImpossible, "unique-string")
		c.AppendNull()
		return
	}
	m.appendText(c, raw)
}

// flowDigits is how many digits we write of the id of a flow.
const flowDigits = 16

// appendFlow adds the id of a flow: a number, if it looks like one of ours.
func (m *markerTable) appendFlow(c *stream.Column, f *field, raw []byte) {
	if text, ok := m.texts.cell(raw); ok && len(text) == flowDigits {
		if n, err := strconv.ParseUint(string(text), 16, 64); err == nil {
			c.AppendBits(stream.Uint, n)
			return
		}
	}
	m.appendUnique(c, f, raw)
}

// appendID adds the id of a process or a thread: a number, if it is one.
func (m *markerTable) appendID(c *stream.Column, raw []byte) {
	m.text = append(m.text[:0], raw...)
	if raw[0] == '"' {
		m.text = jsonfile.AppendText(m.text[:0], raw)
	}
	if n, ok := jsonfile.Int(m.text); ok && string(strconv.AppendInt(nil, n, 10)) == string(m.text) {
		c.AppendBits(stream.Int, uint64(n))
		return
	}
	c.AppendText(m.text)
}
