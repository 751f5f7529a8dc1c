package viewer

import (
	"bytes"
	"encoding/json"
	"slices"
	"unicode/utf8"

	"gprof/convert/internal/jsontext"
)

// appendJSON appends the member for a value that is JSON. without is what it is
// behind if the value can't be shown, with ends with its key.
//
// The viewer shows what is nested only as a list or a table; in another field
// that a schema lists it fails on it, so there it is a text, unless only its code
// looks at it.
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

// takes reports whether a field may have a value that is JSON.
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

// isListOf reports whether a value is a list; of lists that are as long as
// columns, if that is above 0.
func isListOf(value []byte, columns int) bool {
	if columns == 0 {
		return value[0] == '['
	}
	var rows [][]json.RawMessage
	return json.Unmarshal(value, &rows) == nil && !slices.ContainsFunc(rows, func(row []json.RawMessage) bool { return len(row) != columns })
}
