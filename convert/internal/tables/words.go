package tables

import (
	"slices"

	"gprof/stream"
)

// withTexts are the columns of a table, which know their texts where those are in a
// table of the run, or there is one.
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
