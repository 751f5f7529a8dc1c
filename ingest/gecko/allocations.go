package gecko

import (
	"gprof/ingest/internal/jsonfile"
	"gprof/stream"
)

// allocations reads a table of allocations of a processed profile.
func (r *reader) allocations(c *code, thread *thread, s stream.Series) {
	t := thread.table("nativeAllocations", "time", "weight", "stack", "memoryAddress", "threadId")
	for t.next() && !r.full() {
		at, ok := t.nanos(0)
		bytes, sized := jsonfile.Fixed(t.cells[1], 0)
		if !ok || !sized {
			r.lose(stream.ReasonMalformed, "allocations", 1)
			continue
		}
		for i, what := range []string{"addresses", "threads"} {
			r.unplaced(t, 3+i, what+" of allocations")
		}
		r.allocation(s, r.zero+stream.Time(at), bytes, c.stack(t, 2))
	}
	r.ended(t, "allocations")
}

func (r *reader) allocation(s stream.Series, at stream.Time, bytes int64, stack stream.StackID) {
	s.Kind = stream.Allocations
	b := r.out.row(s, at, at)
	b.Stack, b.Value, b.Number = append(b.Stack, stack), append(b.Value, bytes), append(b.Number, 0)
	b.Phase, b.Duration = append(b.Phase, stream.Instant), append(b.Duration, 0)
}

// typeScriptAllocation is the name and the type of the markers that a Gecko profile has
// for objects that scripts allocate. Of these the viewer makes a table; the rows of
// one become such markers.
const typeScriptAllocation = "JS allocation"

// scriptAllocationKeys are the members of their payload, in the order of the columns
// of scriptAllocationTable.
var scriptAllocationKeys = []string{"size", "className", "typeName", "coarseType", "inNursery"}

// firstScriptAllocation is where these columns begin.
const firstScriptAllocation = 2

// scriptAllocationTable is that table of a thread.
func (r *reader) scriptAllocationTable(thread *thread) *table {
	return thread.table("jsAllocations", "time", "stack", "weight", "className", "typeName", "coarseType", "inNursery")
}

func (r *reader) scriptAllocation() *event {
	return r.event(typeScriptAllocation, typeScriptAllocation, -1)
}

// lookAtAllocations finds the fields of those of a thread.
func (r *reader) lookAtAllocations(thread *thread) {
	for t := r.scriptAllocationTable(thread); t.next() && !r.full(); {
		e := r.scriptAllocation()
		for i, key := range scriptAllocationKeys {
			if !e.has([]byte(key)) {
				r.other(e, []byte(key), t.cells[firstScriptAllocation+i])
			}
		}
	}
}

// scriptAllocations reads what scripts of a thread allocated, as markers.
func (r *reader) scriptAllocations(c *code, thread *thread, s stream.Series, who stream.Who) {
	t, m := r.scriptAllocationTable(thread), &markerTable{r: r, texts: c.texts}
	for t.next() && !r.full() {
		ns, ok := t.nanos(0)
		e := r.scriptAllocation()
		if !ok || e.id == 0 {
			r.lose(stream.ReasonMalformed, "allocations", 1)
			continue
		}
		at := r.zero + stream.Time(ns)
		s.Kind, s.Event = stream.Markers, e.id
		b := r.out.row(s, at, at)
		row := len(b.Phase)
		for i, key := range scriptAllocationKeys {
			k := e.columns[key]
			r.value(&b.Args[k], &e.fields[k], t.cells[firstScriptAllocation+i], m)
		}
		for k := range b.Args { // fields of such markers of other threads
			if b.Args[k].Len() == row {
				b.Args[k].AppendNull()
			}
		}
		b.Stack, b.Phase, b.Duration = append(b.Stack, c.stack(t, 1)), append(b.Phase, stream.Instant), append(b.Duration, 0)
		b.AppendWho(who)
	}
	r.ended(t, "allocations")
}
