// Package streamtest is a test bench for implementations of stream.Source and
// stream.Sink: a builder of events, a validator of what passes the waist, and a
// conformance suite for each of the two.
package streamtest

import (
	"gprof/stream"
)

// Builder builds tables and rows by hand.
//
//	b := streamtest.NewBuilder()
//	p := b.Process(stream.Process{Instance: 1, Pid: 7, Name: "shop"})
//	p.Main.Sample(1000, b.Stack("main.main", "main.work"))
//	err := stream.Copy(sink, b.Source(), stream.CopyOptions{})
//
// Every row gets the next index of its process.
type Builder struct {
	Tables *stream.Tables
	Rows   []Row

	last map[stream.ProcessID]uint64 // index
}

// NewBuilder returns an empty Builder.
func NewBuilder() *Builder {
	return &Builder{Tables: new(stream.Tables), last: make(map[stream.ProcessID]uint64)}
}

// Process is a process of a Builder.
type Process struct {
	ID   stream.ProcessID
	Main *Track

	b *Builder
}

// Track is a track of a Builder.
type Track struct {
	ID stream.TrackID

	p *Process
}

// Process adds a process, and its main track.
func (b *Builder) Process(p stream.Process) *Process {
	b.Tables.Processes = append(b.Tables.Processes, p)
	out := &Process{ID: stream.ProcessID(len(b.Tables.Processes)), b: b}
	out.Main = out.TrackOf(stream.Track{Name: p.Name, Main: true})
	return out
}

// Event adds an event.
func (b *Builder) Event(e stream.Event) stream.EventID { return b.Tables.AddEvent(e) }

// Category adds a category.
func (b *Builder) Category(name, color string) stream.CategoryID {
	return b.Tables.Categories.Intern(stream.Category{Name: name, Color: color})
}

// Stack adds a stack of functions without addresses, outermost first.
func (b *Builder) Stack(functions ...string) stream.StackID {
	frames := make([]stream.Frame, len(functions))
	for i, f := range functions {
		frames[i].Function = b.Tables.Strings.Intern(f)
	}
	return b.StackOf(frames...)
}

// StackOf adds a stack of frames, outermost first.
func (b *Builder) StackOf(frames ...stream.Frame) stream.StackID {
	var id stream.StackID
	for _, f := range frames {
		id = b.Tables.Stacks.Intern(id, b.Tables.Frames.Intern(f))
	}
	return id
}

// Add adds a row. If its index is 0 it gets the next one.
func (b *Builder) Add(r Row) {
	if r.Index == 0 {
		r.Index = b.last[r.Process] + 1
	}
	b.last[r.Process] = max(b.last[r.Process], r.Index)
	b.Rows = append(b.Rows, r)
}

// Track adds a track with that name.
func (p *Process) Track(name string) *Track { return p.TrackOf(stream.Track{Name: name}) }

// TrackOf adds a track; its Process is set.
func (p *Process) TrackOf(t stream.Track) *Track {
	t.Process = p.ID
	return &Track{ID: p.b.Tables.Tracks.Intern(t), p: p}
}

// Counter adds a counter; its Process is set.
func (p *Process) Counter(c stream.Counter) stream.CounterID {
	c.Process = p.ID
	return p.b.Tables.Counters.Intern(c)
}

// Count adds a value of a counter.
func (p *Process) Count(at stream.Time, c stream.CounterID, value, number int64) {
	p.add(Row{Series: stream.Series{Kind: stream.Counts, Counter: c}, Time: at, Value: value, Number: number})
}

// Pause adds the start or end of a pause; reason is one such as stream.PausedAll.
func (p *Process) Pause(at stream.Time, phase stream.Phase, reason int64) {
	p.add(Row{Series: stream.Series{Kind: stream.Pauses}, Time: at, Phase: phase, Value: reason})
}

// Overhead adds the recorder's own cost, as stream.OverheadFields.
func (p *Process) Overhead(at stream.Time, lock, clean, counters, threads, samples int64) {
	p.add(Row{Series: stream.Series{Kind: stream.Overheads}, Time: at, Args: []any{lock, clean, counters, threads, samples}})
}

// Log adds a log line; level is one such as stream.LogInfo.
func (p *Process) Log(at stream.Time, level int64, text string) {
	p.add(Row{Series: stream.Series{Kind: stream.Logs}, Time: at, Value: level, Args: []any{text}})
}

// Page adds the start or end of a page; the rest is as stream.PageFields.
func (p *Process) Page(at stream.Time, phase stream.Phase, tab, window, embedder, private int64, url string) {
	p.add(Row{Series: stream.Series{Kind: stream.Pages}, Time: at, Phase: phase, Args: []any{tab, window, embedder, private, url}})
}

func (p *Process) add(r Row) {
	r.Process = p.ID
	p.b.Add(r)
}

// Sample adds a sample of weight 1 and unknown CPU time.
func (t *Track) Sample(at stream.Time, stack stream.StackID) {
	t.Add(Row{Series: stream.Series{Kind: stream.Samples}, Time: at, Stack: stack, Weight: 1, CPU: -1})
}

// Mark adds a marker that is no interval.
func (t *Track) Mark(at stream.Time, phase stream.Phase, e stream.EventID, args ...any) {
	t.Add(Row{Series: stream.Series{Kind: stream.Markers, Event: e}, Time: at, Phase: phase, Args: args})
}

// Interval adds an interval of duration ns.
func (t *Track) Interval(at stream.Time, duration int64, e stream.EventID, args ...any) {
	t.Add(Row{Series: stream.Series{Kind: stream.Markers, Event: e}, Time: at, Phase: stream.Interval, Duration: duration, Args: args})
}

// Delay adds that work had waited for ns.
func (t *Track) Delay(at stream.Time, ns int64) {
	t.Add(Row{Series: stream.Series{Kind: stream.Delays}, Time: at, Value: ns})
}

// Wait adds waiting goroutines, for ns in all.
func (t *Track) Wait(at stream.Time, stack stream.StackID, ns, goroutines int64) {
	t.Add(Row{Series: stream.Series{Kind: stream.Waits}, Time: at, Stack: stack, Value: ns, Number: goroutines})
}

// Measure adds a measurement.
func (t *Track) Measure(at stream.Time, c stream.CounterID, stack stream.StackID, value int64) {
	t.Add(Row{Series: stream.Series{Kind: stream.Measurements, Counter: c}, Time: at, Stack: stack, Value: value})
}

// Allocate adds heap objects that were allocated or, with bytes below 0, freed; phase is
// stream.PhaseStart if that was before the recording.
func (t *Track) Allocate(at stream.Time, phase stream.Phase, stack stream.StackID, bytes, objects int64) {
	t.Add(Row{Series: stream.Series{Kind: stream.Allocations}, Time: at, Phase: phase, Stack: stack, Value: bytes, Number: objects})
}

// AllocateAt is Allocate of one object that lies at an address, by a thread of the system.
func (t *Track) AllocateAt(at stream.Time, stack stream.StackID, bytes, address, thread int64) {
	t.Add(Row{Series: stream.Series{Kind: stream.Allocations}, Time: at, Stack: stack, Value: bytes, Number: 1, Address: address, Owner: stream.Owner{Thread: thread}})
}

// Add adds a row of any kind; its Process and Track are set.
func (t *Track) Add(r Row) {
	r.Process, r.Track = t.p.ID, t.ID
	t.p.b.Add(r)
}
