package tables

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gprof/convert/internal/jsontext"
	"gprof/stream"
)

// eventTable is the typed table of all events of one type, else of one name. Their definitions may
// differ, as in two versions of a program: it has the columns of all.
type eventTable struct {
	table   string                      // name among the files
	columns []Column                    // of arguments
	known   map[fieldKey][]int          // columns by field
	taken   map[string]bool             // column names in lower case
	events  []stream.EventID            // of that type
	of      map[stream.EventID][]int    // columns by argument; ownName is in the column of names
	keys    map[stream.EventID][][]byte // of arguments in JSON objects
}

// fieldKey identifies the fields that share a column.
type fieldKey struct {
	name string
	kind Kind
}

func keyOfField(f stream.EventField) fieldKey { return fieldKey{f.Name, kindOf(f)} }

// common are names that argument columns can't have: those of all markers, and of directories,
// which are columns, too.
var common = commonNames()

func commonNames() map[string]bool {
	names := map[string]bool{"event": true, "service": true, "date": true, "filename": true}
	for _, c := range markerTable("", "odd_arguments").Columns {
		names[c.Name] = true
	}
	return names
}

// typeNames are the names of types in the table of events.
var typeNames = [...]string{stream.Null: "null", stream.Int: "int", stream.Uint: "int", stream.Float: "float", stream.Text: "text", stream.JSON: "json"}

// eventTables returns the table of each event, by EventID-1, and by table name.
func (f *Format) eventTables(t *stream.Tables) ([]*eventTable, map[string]*eventTable) {
	known := map[string]*eventTable{}
	all := make([]*eventTable, len(t.Events))
	for i := range t.Events {
		e := &t.Events[i]
		name := f.eventTable(cmp.Or(e.Type, e.Name))
		if known[name] == nil {
			known[name] = newEventTable(name)
		}
		all[i] = known[name]
		all[i].add(stream.EventID(i+1), e)
	}
	return all, known
}

func newEventTable(name string) *eventTable {
	return &eventTable{table: name, known: map[fieldKey][]int{}, taken: maps.Clone(common), of: map[stream.EventID][]int{}, keys: map[stream.EventID][][]byte{}}
}

// add finds or adds the columns of an event's fields.
func (t *eventTable) add(id stream.EventID, e *stream.Event) {
	used, own := map[int]bool{}, e.NameArg()
	for k, f := range e.Fields {
		if k == own {
			t.of[id] = append(t.of[id], ownName)
			continue
		}
		i := t.find(f, used)
		if i < 0 {
			i = t.addColumn(f)
		}
		used[i] = true
		t.of[id] = append(t.of[id], i)
	}
	t.keys[id] = keysOfFields(e.Fields)
	t.events = append(t.events, id)
}

// ownName is the column of an argument that is the marker's name.
const ownName = -1

// columnOf is the name of the column that has an argument.
func (t *eventTable) columnOf(id stream.EventID, arg int) string {
	if i := t.of[id][arg]; i != ownName {
		return t.columns[i].Name
	}
	return "name"
}

// keysOfFields are the keys of fields in a JSON object: their names, numbered if ambiguous.
func keysOfFields(fields []stream.EventField) (keys [][]byte) {
	taken, many := map[string]bool{}, map[string]int{}
	for _, f := range fields {
		many[f.Name]++
		key := nameOf(f, many[f.Name])
		for ; taken[key]; key = nameOf(f, many[f.Name]) {
			many[f.Name]++
		}
		taken[key] = true
		keys = append(keys, append(jsontext.AppendString(nil, key), ':'))
	}
	return keys
}

// nameOf is the name of the nth field of that name.
func nameOf(f stream.EventField, n int) string {
	text, _ := valid([]byte(f.Name))
	name := strings.ReplaceAll(string(text), "\x00", "\ufffd")
	if name == "" {
		name = "argument"
	}
	if n > 1 {
		name += fmt.Sprint("_", n)
	}
	return name
}

// find returns the column of another definition's field of that name and type.
func (t *eventTable) find(f stream.EventField, used map[int]bool) int {
	for _, i := range t.known[keyOfField(f)] {
		if !used[i] {
			return i
		}
	}
	return -1
}

// addColumn adds a column for a field.
func (t *eventTable) addColumn(f stream.EventField) int {
	name := columnName(f, 1)
	for n := 2; t.taken[strings.ToLower(name)]; n++ {
		name = columnName(f, n)
	}
	t.taken[strings.ToLower(name)] = true
	t.columns = append(t.columns, Column{Name: name, Kind: kindOf(f), Null: true})
	t.known[keyOfField(f)] = append(t.known[keyOfField(f)], len(t.columns)-1)
	return len(t.columns) - 1
}

// columnName is the column name of the nth field of that name. It has the type, so that columns of
// one name have one type in all sessions: texts and decimals end with it, integers only if they
// would look like those, or like a column of all markers.
func columnName(f stream.EventField, n int) string {
	name := nameOf(f, n)
	switch kindOf(f) {
	case Long:
		if plain := strings.ToLower(name); !common[plain] && !strings.HasSuffix(plain, "_text") && !strings.HasSuffix(plain, "_float") {
			return name
		}
		return name + "_int"
	case Double:
		return name + "_float"
	}
	return name + "_text"
}

func kindOf(f stream.EventField) Kind {
	switch f.Type {
	case stream.Int, stream.Uint:
		return Long
	case stream.Float:
		return Double
	}
	if f.Format == stream.FormatString {
		return Word
	}
	return Text
}

func (t *eventTable) definition() Definition {
	d := markerTable("typed_markers", "odd_arguments", t.columns...)
	if len(t.events) == 1 { // else rows of one definition follow those of another
		d.Sorted = append(d.Sorted, "ts_ns")
	}
	return d
}

// writeEvents writes what events there are, a row for each field.
func (s *Sink) writeEvents(p *part) error {
	return s.fill(p, eventTableDefinition, func(t *table) {
		for id := range s.tables.Events {
			e := &s.tables.Events[id]
			if len(e.Fields) == 0 {
				s.writeEvent(t.begin(), p, e)
				for range 6 {
					t.rows.column().null()
				}
				t.rows.end(1)
			}
			for i, f := range e.Fields {
				row := t.begin()
				s.writeEvent(row, p, e)
				s.put(row, f.Name)
				s.put(row, s.events[id].columnOf(stream.EventID(id+1), i))
				s.put(row, f.Label)
				s.put(row, typeNames[min(f.Type, stream.JSON)])
				s.put(row, units[f.Format])
				s.put(row, privacies[f.Privacy])
				row.end(1)
			}
		}
	})
}

var privacies = [...]string{stream.PrivacyPlain: "plain", stream.PrivacyPath: "path", stream.PrivacyURL: "url", stream.PrivacyUser: "user", stream.PrivacySecret: "secret"}

func (s *Sink) writeEvent(row *rows, p *part, e *stream.Event) {
	row.column().string(p.name)
	s.put(row, e.Name)
	s.put(row, s.category(e.Category))
	s.putKnown(row, s.part(e.Category))
}

// put writes a text of the tables to the next column.
func (s *Sink) put(row *rows, text string) { row.column().text(s.bytes("", []byte(text))) }

// putKnown writes a text that is unknown if empty.
func (s *Sink) putKnown(row *rows, text string) {
	if text == "" {
		row.column().null()
		return
	}
	s.put(row, text)
}

func (s *Sink) category(id stream.CategoryID) string {
	if id == 0 {
		return stream.Other.Name
	}
	return s.tables.Categories.At(id).Name
}

// part is the subcategory of a category, "" if none.
func (s *Sink) part(id stream.CategoryID) string {
	if id == 0 {
		return ""
	}
	return s.tables.Categories.At(id).Sub
}

// withTexts are the columns of a table with their texts, where those are in a table of the run, or
// there is one.
func (s *Sink) withTexts(p *part, table string, columns []Column) []Column {
	columns = slices.Clone(columns)
	for i := range columns {
		switch c := &columns[i]; {
		case c.Name == session.Name:
			c.Texts = []string{p.name}
		case table == "markers":
			c.Texts = s.textsOfMarkers(s.allEvents(), c.Name)
		case s.typed[table] != nil && common[c.Name]:
			c.Texts = s.textsOfMarkers(s.typed[table].events, c.Name)
		case table == "counters" || table == "measurements":
			c.Texts = s.textsOfCounters(c.Name)
		}
		for k, text := range columns[i].Texts {
			plain, _ := valid([]byte(text))
			columns[i].Texts[k] = string(plain)
		}
	}
	return columns
}

func (s *Sink) allEvents() []stream.EventID {
	all := make([]stream.EventID, len(s.tables.Events))
	for i := range all {
		all[i] = stream.EventID(i + 1)
	}
	return all
}

func (s *Sink) textsOfMarkers(events []stream.EventID, column string) (all []string) {
	if column == "phase" {
		for _, name := range phases {
			all = append(all, string(name))
		}
		return all
	}
	for _, id := range events {
		switch e := s.tables.Event(id); column {
		case "name":
			if e.NameArg() >= 0 { // not all names are known
				return nil
			}
			all = append(all, e.Name)
		case "category":
			all = append(all, s.category(e.Category))
		}
	}
	return all
}

func (s *Sink) textsOfCounters(column string) (all []string) {
	for id := stream.CounterID(1); int(id) <= s.tables.Counters.Len(); id++ {
		switch c := s.tables.Counters.At(id); column {
		case "counter", "measure":
			all = append(all, c.Name)
		case "category":
			all = append(all, c.Category)
		case "unit":
			all = append(all, units[c.Unit])
		}
	}
	return all
}
