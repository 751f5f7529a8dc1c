package chrometrace

import (
	"strings"

	"gprof/ingest/internal/jsonfile"
	"gprof/stream"
)

// counters are the counters of a file, by process, category, name and member.
type counters struct {
	known map[counterKey]stream.CounterID
	more  int64 // values of more counters than are kept
}

type counterKey struct {
	process           stream.ProcessID
	cat, name, member string
}

// maxCounters bounds them: a counter takes rows of its own.
const maxCounters = 1 << 14

// count makes rows of the values of a counter.
func (s *source) count(e *event, l *line) {
	each(e.args, func(member string, value []byte) {
		n, whole := jsonfile.Int(value)
		if !whole {
			var ok bool
			if n, ok = jsonfile.Fixed(value, 0); !ok {
				s.odd.numbers++
				return
			}
			if strings.Trim(string(value[strings.IndexByte(string(value), '.')+1:]), "0") != "" {
				s.odd.fractions++
			}
		}
		id := s.counter(e, l, member)
		if id == 0 {
			s.counters.more++
			return
		}
		b := s.rows.Row(stream.Series{Process: l.process, Kind: stream.Counts, Counter: id}, 0, s.at(e))
		b.Value, b.Number = append(b.Value, n), append(b.Number, 0)
	})
}

// counter is that of a member of an event; 0 if there are too many.
func (s *source) counter(e *event, l *line, member string) stream.CounterID {
	c := &s.counters
	key := counterKey{l.process, string(e.cat), string(e.name), member}
	if e.hasID() {
		key.name += string(e.identity())
	}
	if id, ok := c.known[key]; ok {
		return id
	}
	if len(c.known) == maxCounters {
		return 0
	}
	name := string(jsonfile.AppendText(nil, e.name))
	if e.hasID() {
		name += "[" + scalar(e.identity()) + "]"
	}
	if member != name && member != "value" {
		name += "." + member
	}
	if c.known == nil {
		c.known = map[counterKey]stream.CounterID{}
	}
	id := s.tables.Counters.Intern(stream.Counter{Process: l.process, Name: name, Category: string(jsonfile.AppendText(nil, e.cat))})
	c.known[key] = id
	return id
}
