package stream

import (
	"slices"
	"strings"
)

// EventTrigger is the name of the event by which recorders tell about their triggers.
const EventTrigger = "trigger"

// What can happen to a rule: the first words of [TriggerMark].What.
const (
	TriggerFired  = "fired"
	TriggerKept   = "kept"      // File has what it asked for
	TriggerFailed = "failed"    // and why
	TriggerHeld   = "held back" // told once a minute, and at the end of the recording
	TriggerOff    = "off"       // and why
	TriggerOn     = "on"        // again
)

// TriggerMark is what one marker says about a rule of a process' triggers.
type TriggerMark struct {
	Time  Time
	Rule  string
	What  string // one of Trigger…, and details behind a colon
	Value string // what was seen, for people
	File  string // where it is kept, "" nowhere
	Held  uint64 // how often the rule did not act since the marker before, because it may only so often
	Flow  uint64 // 0 none
}

// Is reports whether that is what happened.
func (m *TriggerMark) Is(what string) bool {
	return m.What == what || strings.HasPrefix(m.What, what+":")
}

// triggerFields are the fields of that event, in order.
var triggerFields = []string{"rule", "what", "value", "file", "held", "flow"}

// TriggerMarks returns what the markers of a batch say about triggers; nothing if they are of
// another event, such as one of that name of the program.
func (t *Tables) TriggerMarks(b *Batch) (marks []TriggerMark) {
	if b.Series.Kind != Markers {
		return nil
	}
	e := t.Event(b.Series.Event)
	if e.Name != EventTrigger || !slices.EqualFunc(e.Fields, triggerFields, func(f EventField, name string) bool { return f.Name == name }) {
		return nil
	}
	text := func(field, i int) string {
		if b.Args[field].TypeAt(i) != Text {
			return ""
		}
		return string(b.Args[field].TextAt(i))
	}
	number := func(field, i int) uint64 {
		if b.Args[field].TypeAt(i) != Uint {
			return 0
		}
		return b.Args[field].BitsAt(i)
	}
	for i := range b.Len() {
		marks = append(marks, TriggerMark{b.Time[i], text(0, i), text(1, i), text(2, i), text(3, i), number(4, i), number(5, i)})
	}
	return marks
}
