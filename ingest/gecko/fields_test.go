package gecko

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"gprof/stream"
)

// Markers whose fields are made up as the program runs: an event has no more of them
// than rows have room for. All others are in one field, and nothing is missing.
func TestManyFields(t *testing.T) {
	const markers, each = 60, 10
	var rows []string
	for i := range markers {
		members := []string{`"type":"T","further members":"mine"`}
		for k := range each {
			members = append(members, fmt.Sprintf(`"f%d":%d`, i*each+k, k))
		}
		rows = append(rows, fmt.Sprintf("[0,%d,{%s}]", i, strings.Join(members, ",")))
	}
	text := `{"meta":{"version":36},"libs":[],"threads":[{"name":"a","samples":{"schema":{"time":0},"data":[]},"stringTable":["m"],` +
		`"markers":{"schema":{"name":0,"startTime":1,"data":2},"data":[` + strings.Join(rows, ",") + `]}}]}`
	seen := fieldsSeen{values: map[string]string{}}
	if err := stream.Copy(&seen, sourceOf(t, text, 1), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	if len(seen.values) != markers*each+1 || seen.values["f599"] != "9" || seen.values["further members"] != `mine` {
		t.Errorf("%d values, f599 is %q, of the name of the field for others %q", len(seen.values), seen.values["f599"], seen.values["further members"])
	}
	if n := len(seen.tables.Events[0].Fields); n != maxFields+1 {
		t.Errorf("%d fields, want %d", n, maxFields+1)
	}
	var moved int64
	for _, line := range seen.tables.Ledger.Lines() {
		if line.Reason == stream.ReasonMoved {
			moved += line.Count
		}
	}
	if want := int64(markers*each + 1 - maxFields); moved != want {
		t.Errorf("the ledger has %d members, want %d: %v", moved, want, seen.tables.Ledger.Lines())
	}
}

// fieldsSeen notes the values of all fields, those in the field for others, too.
type fieldsSeen struct {
	tables *stream.Tables
	values map[string]string
}

func (s *fieldsSeen) Begin(t *stream.Tables) error { s.tables = t; return nil }
func (s *fieldsSeen) Close() error                 { return nil }

func (s *fieldsSeen) Segment(b *stream.Batch) error {
	for k := range b.Args {
		name := s.tables.Event(b.Series.Event).Fields[k].Name
		for i := range b.Len() {
			switch c := &b.Args[k]; c.TypeAt(i) {
			case stream.Null:
			case stream.JSON:
				var rest map[string]json.RawMessage
				if err := json.Unmarshal(c.TextAt(i), &rest); err != nil {
					return err
				}
				for key, value := range rest {
					s.values[key] = string(value)
				}
			case stream.Text:
				s.values[name] = string(c.TextAt(i))
			default:
				s.values[name] = fmt.Sprint(c.BitsAt(i))
			}
		}
	}
	return nil
}
