package facts

import (
	"cmp"
	"slices"
	"strings"

	"gprof/stream"
)

// maxMessages bounds the different messages that are kept; further ones count as one.
const maxMessages = 1000

// Message is what a program logged: all log records of a level whose texts differ in numbers only.
type Message struct {
	Level string
	Text  string // with # for each number
	Count Series
}

// IsError reports whether the program logged it as an error.
func (m *Message) IsError() bool {
	return strings.EqualFold(m.Level, "error") || strings.EqualFold(m.Level, "fatal")
}

type messageKey struct{ level, text string }

// messages collects what a process logged: markers of the type "log" that have a level and a message,
// as package recorder/logs writes them.
type messages struct {
	line  Timeline
	byKey map[messageKey]*Message
}

func (m *messages) reset(line Timeline) { m.line, m.byKey = line, map[messageKey]*Message{} }

// logFields are the arguments of an event of logs; not ok if it is none.
func logFields(e *stream.Event) (level, text int, ok bool) {
	find := func(name string) int {
		return slices.IndexFunc(e.Fields, func(f stream.EventField) bool { return f.Name == name && f.Type == stream.Text })
	}
	level, text = find("level"), find("message")
	return level, text, (e.Type == "log" || e.Name == "log") && level >= 0 && text >= 0
}

// add adds the rows of a segment of an event of logs.
func (m *messages) add(b *stream.Batch, level, text int) {
	for i := range b.Len() {
		key := messageKey{textOf(b, level, i), pattern(textOf(b, text, i))}
		one := m.byKey[key]
		if one == nil && len(m.byKey) >= maxMessages {
			key.text = "(others)"
			one = m.byKey[key]
		}
		if one == nil {
			one = &Message{Level: key.level, Text: key.text}
			m.byKey[key] = one
		}
		one.Count[m.line.At(b.Time[i])]++
	}
}

func textOf(b *stream.Batch, arg, i int) string {
	if b.Args[arg].TypeAt(i) != stream.Text {
		return ""
	}
	return string(b.Args[arg].TextAt(i))
}

// maxPattern is how much of a message tells it from others.
const maxPattern = 120

// pattern is a message with # for each number, so that equal messages of different values are one.
func pattern(text string) string {
	var out strings.Builder
	number := false
	for _, r := range text {
		digit := '0' <= r && r <= '9'
		switch {
		case digit && !number:
			out.WriteByte('#')
		case !digit:
			out.WriteRune(r)
		}
		if number = digit; out.Len() > maxPattern {
			break
		}
	}
	return out.String()
}

// all are the messages that there were.
func (m *messages) all() (all []*Message) {
	for _, one := range m.byKey {
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b *Message) int {
		return cmp.Or(cmp.Compare(b.Count.Total(), a.Count.Total()), cmp.Compare(a.Level, b.Level), cmp.Compare(a.Text, b.Text))
	})
	return all
}
