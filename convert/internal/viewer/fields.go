package viewer

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gprof/convert/internal/jsontext"
	"gprof/stream"
)

// valueKind is the encoding of a field's values.
type valueKind uint8

const (
	valueNumber  valueKind = iota // as it is
	valueMillis                   // ns, in milliseconds
	valueTime                     // a Time, in milliseconds of the output
	valueText                     // a string
	valueUnique                   // a string index
	valueFlow                     // the string index of an id in hexadecimal
	valueWindow                   // a number; 0 is no window
	valueMicros                   // ns, in microseconds
	valueBool                     // true unless it is 0
	valueList                     // a list
	valueTable                    // a list of lists of as many elements as columns
	valueDetails                  // details of a garbage collection, which only the viewer's code reads
	valueTimings                  // the same, as in Gecko's format
)

// formats are the viewer's formats.
var formats = [stream.NumFormats]struct {
	name  string
	value valueKind
}{
	stream.FormatInteger:     {"integer", valueNumber},
	stream.FormatDecimal:     {"decimal", valueNumber},
	stream.FormatText:        {"string", valueText},
	stream.FormatBytes:       {"bytes", valueNumber},
	stream.FormatNanoseconds: {"duration", valueMillis},
	stream.FormatTime:        {"time", valueTime},
	stream.FormatPercentage:  {"percentage", valueNumber},
	stream.FormatHexadecimal: {"hexadecimal", valueNumber},
	// A number, so that a label can tell them apart: {marker.data.ok ? 'yes' : 'no'}.
	stream.FormatBool:    {"integer", valueNumber},
	stream.FormatPath:    {"file-path", valueText},
	stream.FormatURL:     {"url", valueText},
	stream.FormatString:  {"unique-string", valueUnique},
	stream.FormatFlow:    {"flow-id", valueFlow},
	stream.FormatFlowEnd: {"terminating-flow-id", valueFlow},
	// The viewer looks a number up among its threads, whose tids are not those
	// of the system; a text it shows as it is.
	stream.FormatThread:   {"tid", valueText},
	stream.FormatProcess:  {"pid", valueText},
	stream.FormatWindow:   {"integer", valueWindow},
	stream.FormatPicowatt: {"integer", valueNumber},
	stream.FormatTraceID:  {"unique-string", valueUnique}, // spans of a trace share it
	stream.FormatSpanID:   {"string", valueText},
}

// formatOf returns the viewer's format of a field. Privacy counts more than repetition: the viewer
// removes only texts of these formats from a shared profile.
func formatOf(f *stream.EventField) (string, valueKind) {
	if f.Format >= stream.NumFormats {
		return "string", valueText
	}
	if name, value, ok := shownOf(f); ok {
		return name, value
	}
	format := formats[f.Format]
	if f.Format == stream.FormatText || f.Format == stream.FormatString {
		switch f.Privacy {
		case stream.PrivacyPath:
			return "file-path", valueText
		case stream.PrivacyURL:
			return "url", valueText
		case stream.PrivacyUser, stream.PrivacySecret:
			return "sanitized-string", valueText
		}
	}
	return format.name, format.value
}

// durations are the formats of durations in a fixed unit.
var durations = map[string]valueKind{"seconds": valueMillis, "milliseconds": valueMillis, "microseconds": valueMicros, "nanoseconds": valueNumber}

// shownOf is the viewer's format that a field names, if it suits its values.
func shownOf(f *stream.EventField) (name string, value valueKind, ok bool) {
	switch {
	case f.Format == stream.FormatNanoseconds:
		value, ok = durations[f.Shown]
		return f.Shown, value, ok
	case f.Format != stream.FormatText:
	case f.Type == stream.Text && f.Privacy == stream.PrivacyPlain && f.Shown != "": // of a later version
		return f.Shown, valueText, f.Shown != "list" && f.Shown[0] != '{'
	case f.Type != stream.JSON:
	case f.Shown == "list":
		return f.Shown, valueList, true
	case columnsOf(f.Shown) > 0:
		return f.Shown, valueTable, true
	}
	return "", 0, false
}

// columnsOf is the number of columns in a table's format, 0 for others.
func columnsOf(shown string) int {
	var format struct {
		Type    string `json:"type"`
		Columns []struct {
			Type  any    `json:"type"`
			Label string `json:"label"`
		} `json:"columns"`
	}
	if !strings.HasPrefix(shown, "{") || json.Unmarshal([]byte(shown), &format) != nil || format.Type != "table" {
		return 0
	}
	return len(format.Columns)
}

// counted reports whether a value is written as a string index.
func (k valueKind) counted() bool { return k == valueUnique || k == valueFlow }

// appendArg appends the member for row i of field k, nothing without a value. A text in place of a
// number can't be shown: it is dropped and counted.
func (p *Markers) appendArg(dst []byte, k, i int) []byte {
	f := &p.typ.fields[k]
	c := &p.Rows.Args[f.arg]
	typ := c.TypeAt(i)
	if typ == stream.Null {
		return dst
	}
	with := append(dst, f.key...)
	if typ == stream.JSON {
		return p.appendJSON(dst, with, f, c.TextAt(i))
	}
	switch f.value {
	case valueText, valueDetails, valueTimings:
		if typ == stream.Text {
			return jsontext.AppendString(with, c.TextAt(i))
		}
		return append(appendNumber(append(with, '"'), c, i), '"')
	case valueUnique, valueFlow:
		return jsontext.AppendInt(with, int64(p.numbers[k][i]))
	}
	if typ == stream.Text || typ == stream.Float && !finite(math.Float64frombits(c.BitsAt(i))) || f.value == valueList || f.value == valueTable {
		p.lost.Add(1)
		return dst
	}
	switch f.value {
	case valueWindow:
		if c.BitsAt(i) == 0 {
			return dst
		}
	case valueMillis:
		return appendMillis(with, c, i, 0)
	case valueMicros:
		return appendMicros(with, c, i)
	case valueBool:
		return strconv.AppendBool(with, c.BitsAt(i) != 0)
	case valueTime:
		return appendMillis(with, c, i, p.start)
	}
	return appendNumber(with, c, i)
}

// internArg interns a value; none is the first string.
func (x *Texts) internArg(kind valueKind, c *stream.Column, i int) int32 {
	var buf [32]byte
	switch typ := c.TypeAt(i); {
	case typ == stream.Null:
		return 0 // is not written
	case typ == stream.Text:
		return x.InternBytes(c.TextAt(i))
	case kind == valueFlow && typ != stream.Float:
		return x.InternBytes(appendHex(buf[:0], c.BitsAt(i)))
	}
	return x.InternBytes(appendNumber(buf[:0], c, i))
}

// appendHex appends all 16 digits of n.
func appendHex(dst []byte, n uint64) []byte {
	const digits = "0123456789abcdef"
	for shift := 60; shift >= 0; shift -= 4 {
		dst = append(dst, digits[n>>shift&15])
	}
	return dst
}

// appendNumber appends a number as it is.
func appendNumber(dst []byte, c *stream.Column, i int) []byte {
	switch bits := c.BitsAt(i); c.TypeAt(i) {
	case stream.Int:
		return jsontext.AppendInt(dst, int64(bits))
	case stream.Uint:
		return jsontext.AppendUint(dst, bits)
	default:
		return jsontext.AppendFloat(dst, math.Float64frombits(bits))
	}
}

// appendMillis appends ns after start as milliseconds.
func appendMillis(dst []byte, c *stream.Column, i int, start stream.Time) []byte {
	bits := c.BitsAt(i)
	switch {
	case c.TypeAt(i) == stream.Float:
		return jsontext.AppendFloat(dst, (math.Float64frombits(bits)-float64(start))/1e6)
	case c.TypeAt(i) == stream.Uint && bits > math.MaxInt64: // 292 years
		bits = math.MaxInt64
	}
	return jsontext.AppendMillis(dst, int64(bits)-int64(start))
}

// appendMicros appends ns as microseconds.
func appendMicros(dst []byte, c *stream.Column, i int) []byte {
	bits := c.BitsAt(i)
	switch {
	case c.TypeAt(i) == stream.Float:
		return jsontext.AppendFloat(dst, math.Float64frombits(bits)/1e3)
	case c.TypeAt(i) == stream.Uint && bits > math.MaxInt64:
		bits = math.MaxInt64
	}
	return jsontext.AppendFixed(dst, int64(bits), 3)
}

func finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

// appendJSON appends a JSON value. without is dst if the value can't be shown, with ends with its
// key. The viewer shows nested values only as a list or table; in another listed field it fails on
// them, so there they become strings, unless only its code reads them.
func (p *Markers) appendJSON(without, with []byte, f *field, value []byte) []byte {
	value = bytes.TrimSpace(value)
	nested := bytes.HasPrefix(value, []byte("{")) || bytes.HasPrefix(value, []byte("["))
	switch {
	case !json.Valid(value), !utf8.Valid(value), !f.takes(value, nested):
		p.lost.Add(1)
		return without
	case f.value == valueTimings && nested:
		return appendTimings(with, value)
	case f.value == valueDetails && nested:
		return append(with, value...)
	case f.value == valueText && nested && f.listed != nil:
		return jsontext.AppendString(with, value)
	}
	return append(with, value...)
}

// takes reports whether a field may have a JSON value.
func (f *field) takes(value []byte, nested bool) bool {
	switch f.value {
	case valueList:
		return isListOf(value, 0)
	case valueTable:
		return isListOf(value, columnsOf(f.format))
	case valueUnique, valueFlow:
		return value[0] == 'n'
	case valueText, valueDetails, valueTimings:
		return true
	}
	return !nested && value[0] != '"' || f.listed == nil
}

// isListOf reports whether a value is a list, of lists of that many elements if columns is above 0.
func isListOf(value []byte, columns int) bool {
	if columns == 0 {
		return value[0] == '['
	}
	var rows [][]json.RawMessage
	return json.Unmarshal(value, &rows) == nil && !slices.ContainsFunc(rows, func(row []json.RawMessage) bool { return len(row) != columns })
}
