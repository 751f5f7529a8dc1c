package gecko

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"gprof/ingest/internal/jsonfile"
	"gprof/stream"
)

// value adds a payload value to its column. A value that is not of the field's kind is added as it
// is.
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
		m.appendUnique(c, raw)
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

// compacted is a value as JSON, null if malformed.
func (m *markerTable) compacted(raw []byte) []byte {
	text := compact(m.text[:0], raw)
	if string(text) == "null" && !isNull(raw) {
		m.badPayload(stream.ReasonMalformed, "JSON")
	}
	return text
}

// scaled adds a number of units of 10^digits ns, plus start.
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
func (m *markerTable) appendUnique(c *stream.Column, raw []byte) {
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

// flowDigits is the length of the flow ids that we write.
const flowDigits = 16

// appendFlow adds a flow id, as a number if it looks like ours.
func (m *markerTable) appendFlow(c *stream.Column, f *field, raw []byte) {
	if text, ok := m.texts.cell(raw); ok && len(text) == flowDigits {
		if n, err := strconv.ParseUint(string(text), 16, 64); err == nil {
			c.AppendBits(stream.Uint, n)
			return
		}
	}
	m.appendUnique(c, raw)
}

// appendID adds the id of a process or thread, as a number if it is one.
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

// compact appends raw without white space, as valid UTF-8.
func compact(dst, raw []byte) []byte {
	if !utf8.Valid(raw) {
		raw = bytes.ToValidUTF8(raw, []byte("\ufffd"))
	}
	out := bytes.NewBuffer(dst)
	if json.Compact(out, raw) != nil {
		return append(dst, "null"...)
	}
	return out.Bytes()
}

// appendTimings appends the details of a collection as newer processed profiles have them. In Gecko
// and old processed profiles phase times are in ms under other keys, and shares in percent. Until
// Gecko 8 there is no status; such collections were completed.
func appendTimings(dst, raw []byte, major bool) []byte {
	o := parse(raw)
	status := o.raw("status")
	if major && status == nil && o.has("slices") {
		status = []byte(`"completed"`)
		dst = appendStatus(dst, status)
	} else {
		dst = append(dst, '{')
	}
	return appendMembers(dst, raw, func(dst, key, value []byte) []byte {
		switch string(key) {
		case "times", "totals":
			return appendPhases(appendKey(dst, "phase_times"), value)
		case "mmu_20ms", "mmu_50ms":
			if o.has("totals") {
				return appendShifted(appendKey(dst, string(key)), value, -2)
			}
		case "allocated":
			if mebibytes, err := strconv.ParseFloat(string(value), 64); err == nil && major && !o.has("allocated_bytes") {
				dst = strconv.AppendFloat(appendKey(dst, "allocated_bytes"), mebibytes*(1<<20), 'f', -1, 64)
				dst = append(dst, ',')
			}
		}
		return compact(appendKey(dst, string(key)), value)
	})
}

// oldNursery maps the keys of minor collections until Gecko 8 to today's.
var oldNursery = map[string]string{"nursery_bytes": "bytes_used", "new_nursery_bytes": "new_capacity", "timings": "phase_times"}

// appendNursery appends the details of a minor collection, likewise.
func appendNursery(dst, raw []byte) []byte {
	old := !parse(raw).has("status")
	if old {
		dst = appendStatus(dst, []byte(`"complete"`))
	} else {
		dst = append(dst, '{')
	}
	return appendMembers(dst, raw, func(dst, key, value []byte) []byte {
		name := string(key)
		if now := oldNursery[name]; old && now != "" {
			name = now
		}
		if name == "status" && string(value) == `"no collection"` {
			value = []byte(`"nursery empty"`)
		}
		return compact(appendKey(dst, name), value)
	})
}

// appendStatus begins an object with a status.
func appendStatus(dst, status []byte) []byte {
	return append(append(appendKey(append(dst, '{'), "status"), status...), ',')
}

// appendPhases appends an object of times, converted from ms to µs.
func appendPhases(dst, raw []byte) []byte {
	if !bytes.HasPrefix(raw, []byte("{")) {
		return compact(dst, raw)
	}
	return appendMembers(append(dst, '{'), raw, func(dst, key, value []byte) []byte {
		return appendShifted(appendKey(dst, string(key)), value, 3)
	})
}

// appendMembers appends what each makes of every member, and the closing brace.
func appendMembers(dst, object []byte, each func(dst, key, value []byte) []byte) []byte {
	members(object, func(key, value []byte) { dst = append(each(dst, key, value), ',') })
	return append(bytes.TrimSuffix(dst, []byte{','}), '}')
}

func appendKey(dst []byte, key string) []byte {
	text, _ := json.Marshal(key)
	return append(append(dst, text...), ':')
}

// appendShifted appends a number times a power of ten. It shifts the text's exponent, because a
// product would be rounded twice.
func appendShifted(dst, raw []byte, digits int) []byte {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(string(raw)), "e")
	n, _ := strconv.Atoi(exponent)
	f, err := strconv.ParseFloat(mantissa+"e"+strconv.Itoa(n+digits), 64)
	if err != nil {
		return compact(dst, raw)
	}
	return strconv.AppendFloat(dst, f, 'f', -1, 64)
}
