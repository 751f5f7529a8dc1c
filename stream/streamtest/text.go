package streamtest

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"gprof/stream"
)

// text is a Sink that writes all that it gets as lines.
type text struct {
	w *bufio.Writer
}

// NewText returns a Sink that writes every call, table and row to w as text, to look at
// it, or to compare what two Copies gave their sinks.
func NewText(w io.Writer) stream.Sink { return &text{bufio.NewWriter(w)} }

func (x *text) Begin(t *stream.Tables) error {
	x.line("begin")
	for i := range t.Processes {
		x.line("process %d %s", i+1, ordinary.Replace(fmt.Sprintf("%+v", t.Processes[i])))
	}
	each(x, "track", &t.Tracks)
	each(x, "counter", &t.Counters)
	for id := stream.CategoryID(1); int(id) <= t.Categories.Len(); id++ {
		c := t.Categories.At(id)
		x.line("category %d {Name:%s Color:%s}", id, c.Title(), c.Color)
	}
	for i := range t.Events {
		x.line("event %d %s", i+1, ordinary.Replace(fmt.Sprintf("%+v", t.Events[i])))
	}
	each(x, "module", &t.Modules)
	each(x, "string", &t.Strings)
	each(x, "frame", &t.Frames)
	each(x, "labels", &t.Labels)
	for id := stream.StackID(1); int(id) <= t.Stacks.Len(); id++ {
		parent, frame := t.Stacks.At(id)
		x.line("stack %d parent %d frame %d", id, parent, frame)
	}
	for _, l := range t.Ledger.Lines() {
		x.line("ledger %+v", l)
	}
	return x.w.Flush()
}

// each writes all rows of a table.
func each[K any, ID ~int32](x *text, name string, t interface {
	At(ID) K
	Len() int
}) {
	for id := ID(1); int(id) <= t.Len(); id++ {
		x.line("%s %d %s", name, id, ordinary.Replace(fmt.Sprintf("%+v", t.At(id))))
	}
}

func (x *text) Segment(b *stream.Batch) error {
	s := b.Series
	x.line("segment %v process %d track %d event %d counter %d", s.Kind, s.Process, s.Track, s.Event, s.Counter)
	for _, r := range Rows(b) {
		x.line("  %s", rowText(r))
	}
	return x.w.Flush()
}

// rowText is r without its series.
func rowText(r Row) string {
	return fmt.Sprintf("%d #%d stack %d weight %d cpu %d phase %d duration %d value %d number %d%s%s",
		r.Time, r.Index, r.Stack, r.Weight, r.CPU, r.Phase, r.Duration, r.Value, r.Number, ownerText(r.Owner)+addressText(r.Address), args(r.Args))
}

// ownerText is what is known of an owner.
func ownerText(w stream.Owner) string {
	if w == (stream.Owner{}) {
		return ""
	}
	text := fmt.Sprintf(" thread %d goroutine %d labels %d", w.Thread, w.Goroutine, w.Labels)
	if w.Span != (stream.Span{}) {
		text += " trace " + w.Span.TraceText() + " span " + w.Span.IDText()
	}
	return text
}

func addressText(address int64) string {
	if address == 0 {
		return ""
	}
	return fmt.Sprintf(" address %d", address)
}

// ordinary leaves out fields that most processes, events, modules and frames don't have.
var ordinary = strings.NewReplacer(" DebugPath: DebugName: Breakpad: Arch:}", "}", " Window:0}", "}", " Scripted:false", "", " Earliest:0", "", " Placed:[0 0]", "", " Twin:0", "", " Traced:false", "", " Profile:{Types:[] Default: PeriodType:{Name: Unit:} Period:0 Sum:false UnknownCPU:0 Files:0}", "", " Shift:0", "", fmt.Sprintf(" Naming:%+v", stream.Naming{}), "", " Monotonic:0", "", " Picture:<nil>", "", " Type: NameField: Bare:false Description: Graphs:[] ColorField: Nested:false}", "}", " Unlisted:false Shown:}", "}")

// args are arguments with their types, so that 1, 1.0 and "1" differ.
func args(list []any) string {
	var b strings.Builder
	for _, a := range list {
		switch v := a.(type) {
		case nil:
			b.WriteString(" null")
		case float64:
			b.WriteString(" float " + strconv.FormatFloat(v, 'g', -1, 64))
		case string:
			b.WriteString(" " + strconv.Quote(v))
		case JSON:
			b.WriteString(" json " + strconv.Quote(string(v)))
		default:
			fmt.Fprintf(&b, " %T %v", v, v)
		}
	}
	return b.String()
}

func (x *text) Close() error {
	x.line("close")
	return x.w.Flush()
}

func (x *text) line(format string, args ...any) { fmt.Fprintf(x.w, format+"\n", args...) }
