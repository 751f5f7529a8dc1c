package stream

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// Events that differ in any field have different keys, also if the same text is in
// another field.
func TestEventKey(t *testing.T) {
	field := func(f EventField) Event { return Event{Fields: []EventField{f}} }
	events := []Event{
		{}, {Name: "a"}, {Chart: "a"}, {Tooltip: "a"}, {Table: "a"}, {Category: 1}, {Display: 1}, {Name: "a", Chart: "b"}, {Name: "ab"},
		{Name: "a\x00"}, {Name: "\x01a"}, {Category: 1, Display: 1}, {Category: 128}, {Display: 128},
		field(EventField{}), field(EventField{Name: "a"}), field(EventField{Label: "a"}), field(EventField{Type: 1}), field(EventField{Format: 1}),
		field(EventField{Privacy: 1}), field(EventField{Searchable: true}), field(EventField{Hidden: true}),
		field(EventField{Unlisted: true}), field(EventField{Shown: "a"}), {Type: "a"}, {Description: "a"}, {ColorField: "a"}, {NameField: "a"}, {Bare: true}, {Nested: true},
		{Graphs: make([]Graph, 1)}, {Graphs: []Graph{{Field: "a"}}}, {Graphs: []Graph{{Shape: "a"}}}, {Graphs: []Graph{{Color: "a"}}},
		{Fields: make([]EventField, 2)}, {Fields: []EventField{{Name: "a"}, {}}}, {Fields: []EventField{{}, {Name: "a"}}},
	}
	var tables Tables
	for range 2 {
		for i, e := range events {
			if id := tables.AddEvent(e); int(id) != i+1 {
				t.Errorf("%+v has the id of %+v", e, events[id-1])
			}
		}
	}
}

// TestKeyFields fails when a field is added that key does not know.
func TestKeyFields(t *testing.T) {
	for typ, want := range map[reflect.Type]int{reflect.TypeFor[Event](): 14, reflect.TypeFor[EventField](): 9, reflect.TypeFor[Graph](): 3} {
		if n := typ.NumField(); n != want {
			t.Errorf("%v has %d fields, its key %d", typ, n, want)
		}
	}
}

// The ledger is the same for any order of its lines, even if there are too many places to
// list.
func TestLedgerOrder(t *testing.T) {
	var lines []Line
	for i := range 3 * maxPlaces {
		lines = append(lines, Line{Reason: ReasonTorn, What: "pages", Where: fmt.Sprintf("chunk %03d", i), Count: int64(i), Bytes: 1})
		lines = append(lines, Line{Reason: ReasonTorn, What: "pages", Where: fmt.Sprintf("chunk %03d", i), Count: 1000})
	}
	lines = append(lines, Line{Process: "b", Reason: ReasonGap, Count: 2}, Line{Process: "a", Reason: ReasonGap, Count: 3, Bytes: 4},
		Line{Process: "a", Reason: ReasonGap, Count: 30}, Line{Process: "a", Reason: ReasonGap, What: "samples", Count: 5})
	var want []Line
	for seed := range uint64(5) {
		var l Ledger
		for _, i := range rand.New(rand.NewPCG(seed, 0)).Perm(len(lines)) {
			l.Add(lines[i])
		}
		got := l.Lines()
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Fatal("another order gives another ledger")
		}
	}
	sum := int64(0)
	for i := maxPlaces; i < 3*maxPlaces; i++ {
		sum += int64(i) + 1000
	}
	for i, line := range map[int]Line{
		0:             {Reason: ReasonTorn, What: "pages", Count: sum, Bytes: 2 * maxPlaces},
		1:             {Reason: ReasonTorn, What: "pages", Where: "chunk 000", Count: 1000, Bytes: 1},
		maxPlaces:     {Reason: ReasonTorn, What: "pages", Where: "chunk 199", Count: 1199, Bytes: 1},
		maxPlaces + 1: {Process: "a", Reason: ReasonGap, Count: 33, Bytes: 4},
		maxPlaces + 2: {Process: "a", Reason: ReasonGap, What: "samples", Count: 5},
		maxPlaces + 3: {Process: "b", Reason: ReasonGap, Count: 2},
	} {
		if want[i] != line {
			t.Errorf("line %d is %+v, want %+v", i, want[i], line)
		}
	}
}

func TestLedgerWorst(t *testing.T) {
	var l Ledger
	if worst, any := l.Worst(); worst != Info || any {
		t.Errorf("an empty ledger: %v, %v", worst, any)
	}
	for _, step := range []struct {
		reason Reason
		want   Severity
	}{{ReasonStale, Info}, {ReasonClock, Unsure}, {ReasonGap, Loss}, {ReasonDuplicate, Loss}} {
		l.Add(Line{Reason: step.reason})
		if worst, any := l.Worst(); worst != step.want || !any {
			t.Errorf("with %s: %v, %v; want %v", step.reason, worst, any, step.want)
		}
	}
}
