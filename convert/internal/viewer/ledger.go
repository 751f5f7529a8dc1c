package viewer

import (
	"gprof/convert/internal/jsontext"
	"gprof/stream"
	"gprof/stream/wording"
)

// Ledger is what was lost on the way to a profile: by the source, and for lack of a place in the
// output.
type Ledger struct {
	tables *stream.Tables
	known  []stream.Line // of the source
	lost   stream.Ledger
}

// NewLedger begins with the current lines of t; other sinks may add to them.
func NewLedger(t *stream.Tables) *Ledger { return &Ledger{tables: t, known: t.Ledger.Lines()} }

// Lose counts details of a process without a place in the format.
func (l *Ledger) Lose(id stream.ProcessID, what string, count int64) {
	l.Add(id, stream.ReasonUnsupported, what, count)
}

// LoseKind counts rows of a kind without a place in the format.
func (l *Ledger) LoseKind(id stream.ProcessID, kind stream.Kind, count int64) {
	l.Add(id, stream.ReasonNoPlace, kind.String(), count)
}

// LoseLabels counts allocations with labels besides the size of objects, which bytes and objects
// tell as well.
func (l *Ledger) LoseLabels(b *stream.Batch) {
	n := int64(0)
	for _, id := range b.Labels {
		if id != 0 && labeled(l.tables.Labels.At(id)) {
			n++
		}
	}
	if n > 0 {
		l.Lose(b.Series.Process, "labels of allocations", n)
	}
}

// labeled reports whether there is a label that is not the size of objects in a heap profile.
func labeled(set stream.LabelSet) bool {
	for key := range set.All() {
		if key != "bytes" {
			return true
		}
	}
	return false
}

// Addresses tells of the addresses of the allocations of a thread: how many have no place, and how
// many are made up.
func (l *Ledger) Addresses(id stream.ProcessID, unplaced, madeUp int64) {
	if unplaced > 0 {
		l.Lose(id, "addresses of allocations", unplaced)
	}
	if madeUp > 0 {
		l.Add(id, stream.ReasonMadeUp, "addresses of allocations", madeUp)
	}
}

// Repeated counts the rows of a counter that Changes leaves out.
func (l *Ledger) Repeated(id stream.ProcessID, rows int64) {
	if rows > 0 {
		l.Add(id, stream.ReasonRepeated, "rows of counters", rows)
	}
}

// Add counts what a process has lost for some reason.
func (l *Ledger) Add(id stream.ProcessID, reason stream.Reason, what string, count int64) {
	l.lost.Add(stream.Line{Process: Process(l.tables, id).InstanceName(), Reason: reason, What: what, Count: count})
}

// Tell adds what was lost to the ledger of the tables.
func (l *Ledger) Tell() {
	for _, line := range l.lost.Lines() {
		l.tables.Ledger.Add(line)
	}
}

// Lines are all lines by ProcessID. Those of no process are under the first.
func (l *Ledger) Lines() [][]stream.Line {
	home := make(map[string]stream.ProcessID)
	for i := range l.tables.Processes {
		home[l.tables.Processes[i].InstanceName()] = stream.ProcessID(i + 1)
	}
	lines := make([][]stream.Line, max(1, len(l.tables.Processes))+1)
	for _, line := range l.all() {
		id := max(1, home[line.Process])
		lines[id] = append(lines[id], line)
	}
	return lines
}

func (l *Ledger) all() []stream.Line {
	var all stream.Ledger
	for _, line := range l.known {
		all.Add(line)
	}
	for _, line := range l.lost.Lines() {
		all.Add(line)
	}
	return all.Lines()
}

// Write writes the ledger as an object, under the pids of the processes.
func (l *Ledger) Write(out *jsontext.Writer) {
	out.BeginObject()
	for id, lines := range l.Lines() {
		if len(lines) > 0 {
			out.Key(Process(l.tables, stream.ProcessID(id)).OutPid)
			writeLines(out, lines)
		}
	}
	out.EndObject()
}

func writeLines(out *jsontext.Writer, lines []stream.Line) {
	out.BeginObject()
	out.Array("ledger")
	for _, line := range lines {
		writeLine(out, line)
	}
	out.EndArray()
	out.EndObject()
}

func writeLine(out *jsontext.Writer, line stream.Line) {
	out.BeginObject()
	out.Member("process", line.Process)
	out.Member("reason", line.Reason.String())
	out.Member("severity", line.Reason.Severity().String())
	out.Member("text", wording.Reason(line.Reason))
	out.Member("what", line.What)
	out.Member("where", line.Where)
	out.Number("count", line.Count)
	out.Number("bytes", line.Bytes)
	out.EndObject()
}
