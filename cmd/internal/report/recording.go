package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"gprof/cmd/internal/human"
	"gprof/ingest"
	"gprof/stream"
	"gprof/stream/wording"
)

// recordingSummary is what info shows of a recording.
type recordingSummary struct {
	Start     time.Time         `json:"start,omitzero"` // of the earliest process
	End       time.Time         `json:"end,omitzero"`   // of the latest
	Counts    map[string]int64  `json:"counts"`         // null, as others below, if no events were read
	Processes []*processSummary `json:"processes"`
	Frames    *int              `json:"frames"`            // in use
	Unnamed   []*unnamedFrames  `json:"unnamed"`           // of them, by module
	Removed   []*removedSummary `json:"removed,omitempty"` // processes that made way for others as a whole
	Kept      []*keptSummary    `json:"kept,omitempty"`    // by triggers, by session
	Ledger    []LedgerLine      `json:"ledger"`
}

// discardSummary is the part of a recording that made way for later ones.
type discardSummary struct {
	Chunks int64     `json:"chunks"`
	Bytes  int64     `json:"bytes"`
	From   time.Time `json:"from,omitzero"`
	To     time.Time `json:"to,omitzero"`
	Why    string    `json:"why,omitempty"` // if nothing is left: what there is to say beside that the limit was reached
}

type removedSummary struct {
	Instance  string          `json:"instance"`
	Pid       uint32          `json:"pid"`
	Title     string          `json:"title,omitempty"` // missing if values are redacted
	Discarded *discardSummary `json:"discarded"`
}

type processSummary struct {
	Instance string            `json:"instance"`
	Parent   string            `json:"parent,omitempty"` // instance
	Twin     string            `json:"twin,omitempty"`   // likewise: another recording of the same process, whose samples count in sums
	Pid      int               `json:"pid"`
	Process  string            `json:"process"`    // as in the names of files of --per process
	OutPid   string            `json:"output_pid"` // in Firefox Profiler, where pids are unique
	Title    string            `json:"title"`
	Name     string            `json:"name"`
	Service  string            `json:"service,omitempty"`
	Version  string            `json:"version,omitempty"`
	Revision string            `json:"revision,omitempty"`
	Host     string            `json:"host,omitempty"`
	Exe      string            `json:"exe,omitempty"`
	Args     []string          `json:"args,omitempty"`
	Attrs    map[string]string `json:"attrs,omitempty"`
	Go       string            `json:"go,omitempty"`
	CPU      string            `json:"cpu,omitempty"`        // how samples were taken
	Tests    map[string]string `json:"self_tests,omitempty"` // results of the recorder's self-tests
	Start    time.Time         `json:"start"`
	End      time.Time         `json:"end"`
	State    string            `json:"state"` // of ended
	Ended    *ending           `json:"ended"`
	Format   string            `json:"format,omitempty"` // if another tool recorded it
	File     string            `json:"file,omitempty"`   // of that tool; missing if values are redacted
	Lacks    string            `json:"lacks,omitempty"`  // missing from all files of that format
	Chunks   int               `json:"chunks"`
	Bytes    int64             `json:"bytes"` // committed
	Gone     *discardSummary   `json:"discarded,omitempty"`
	Heap     *heapSummary      `json:"heap,omitempty"`
	Cost     *cost             `json:"recording,omitempty"` // what recording took
	Counts   map[string]int64  `json:"counts"`
	Events   map[string]int64  `json:"events"` // markers by event
	Counters []*counterSummary `json:"counters"`
	Measures map[string]int64  `json:"measures,omitempty"` // measurements by measure
	Tracks   []*trackSummary   `json:"tracks"`
	Traces   []*traceSummary   `json:"traces,omitempty"` // files of Go's execution trace beside the recording
	Triggers []*triggerSummary `json:"triggers,omitempty"`
	Losses   []LedgerLine      `json:"losses"`
}

type traceSummary struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

type counterSummary struct {
	Name string `json:"name"`
	Rows int64  `json:"rows"`
}

type trackSummary struct {
	Name    string           `json:"name"`
	Main    bool             `json:"main,omitempty"`
	Samples int64            `json:"samples"` // by weight
	Markers int64            `json:"markers"`
	Events  map[string]int64 `json:"events"`
}

// Survey collects what info shows of events.
type Survey struct {
	stream.Count
	Partly   bool // not all events of a process were asked for
	levels   levelSink
	triggers triggerSink
	headers  bool // no events were read
}

// Headers is the survey of a Source without events, of which only headers were read.
func Headers() *Survey { return &Survey{headers: true} }

// Sink is the sink for the events.
func (s *Survey) Sink() stream.Sink { return stream.Tee(&s.Count, &s.levels, &s.triggers) }

// Summary sums up the recordings that were found. If values are redacted, places and
// titles that only the files tell are left out.
func (s *Survey) Summary(found *ingest.Found, redacted bool) *recordingSummary {
	sum := summarize(&s.Count)
	sum.locate(found, s, redacted)
	if s.headers {
		sum.forget()
	}
	return sum
}

// forget leaves out what only events tell.
func (m *recordingSummary) forget() {
	m.Counts, m.Frames, m.Unnamed = nil, nil, nil
	for _, p := range m.Processes {
		p.Counts, p.Events, p.Counters, p.Tracks, p.Triggers = nil, nil, nil, nil, nil
	}
}

func summarize(c *stream.Count) *recordingSummary {
	t := c.Tables
	m := &recordingSummary{Counts: map[string]int64{}, Processes: []*processSummary{}, Ledger: ledgerLines(&t.Ledger), Frames: new(t.Frames.Len()), Unnamed: unnamed(t)}
	losses := map[string][]LedgerLine{} // by process
	for _, line := range m.Ledger {
		losses[line.Process] = append(losses[line.Process], line)
	}
	for i := range t.Processes {
		p := newProcessSummary(t, &t.Processes[i])
		p.Losses = append(p.Losses, losses[p.Instance]...)
		m.Processes = append(m.Processes, p)
		if i == 0 || p.Start.Before(m.Start) {
			m.Start = p.Start
		}
		if p.End.After(m.End) {
			m.End = p.End
		}
	}
	tracks := map[stream.TrackID]*trackSummary{}
	for id := stream.TrackID(1); int(id) <= t.Tracks.Len(); id++ {
		row := t.Tracks.At(id)
		tracks[id] = &trackSummary{Name: row.Name, Main: row.Main, Events: map[string]int64{}}
		p := m.Processes[row.Process-1]
		p.Tracks = append(p.Tracks, tracks[id])
	}
	for _, s := range c.Series {
		m.Counts[s.Kind.String()] += events(&s)
		m.Processes[s.Process-1].add(t, &s, tracks[s.Track])
	}
	return m
}

// events is how many events a series stands for: a row of samples may be several.
func events(s *stream.SeriesTally) int64 {
	if s.Kind == stream.Samples {
		return s.Samples
	}
	return s.Rows
}

// add adds the tally of one series; track is nil if it has none.
func (p *processSummary) add(t *stream.Tables, s *stream.SeriesTally, track *trackSummary) {
	p.Counts[s.Kind.String()] += events(s)
	switch s.Kind {
	case stream.Samples:
		track.Samples += s.Samples
	case stream.Markers:
		name := t.Event(s.Event).Name
		p.Events[name] += s.Rows
		track.Markers += s.Rows
		track.Events[name] += s.Rows
	case stream.Measurements:
		p.Measures[t.Counters.At(s.Counter).Name] += s.Rows
	case stream.Counts:
		p.Counters = append(p.Counters, &counterSummary{t.Counters.At(s.Counter).Name, s.Rows})
	}
}

func newProcessSummary(t *stream.Tables, p *stream.Process) *processSummary {
	row := &processSummary{
		Instance: p.InstanceName(), Pid: p.Pid, Process: strings.Join(p.Words(), "-"), OutPid: p.OutPid, Title: p.Title(), Name: p.Name,
		Service: p.Service, Version: p.Version, Revision: p.Revision, Host: p.Host, Exe: p.Exe, Args: p.Args, Go: p.Go, CPU: p.CPU,
		Start: Moment(p.Start), End: Moment(p.End),
		Counts: map[string]int64{}, Events: map[string]int64{}, Counters: []*counterSummary{}, Measures: map[string]int64{}, Tracks: []*trackSummary{}, Losses: []LedgerLine{},
	}
	if p.Parent != 0 {
		row.Parent = t.Process(p.Parent).InstanceName()
	}
	if p.Twin != 0 {
		row.Twin = fmt.Sprintf("%016x", p.Twin)
	}
	row.Heap = newHeapSummary(p)
	row.Attrs, row.Tests = byKey(p.Attrs), byKey(p.SelfTests)
	return row
}

// byKey is a map of attributes, nil if there are none.
func byKey(attrs []stream.Attr) map[string]string {
	if len(attrs) == 0 {
		return nil
	}
	m := map[string]string{}
	for _, a := range attrs {
		m[a.Key] = a.Value
	}
	return m
}

// locate adds what only the files tell.
func (m *recordingSummary) locate(found *ingest.Found, s *Survey, redacted bool) {
	byInstance := map[string]*ingest.Process{}
	for _, p := range found.Processes {
		byInstance[p.Name()] = p
	}
	rows := recordedOf(&s.Count)
	for i, p := range m.Processes {
		f := byInstance[p.Instance]
		p.Chunks, p.Bytes = len(f.Chunks), f.Bytes()
		p.Format, p.Lacks = f.Foreign()
		if p.Format != "" && !redacted {
			p.File = f.Location
		}
		for _, t := range f.Traces {
			p.Traces = append(p.Traces, &traceSummary{t.Name, t.Size})
		}
		id := stream.ProcessID(i + 1)
		p.Ended = newEnding(s.Tables.Process(id), f, s.levels.spans[id])
		p.Cost = newCost(s.Tables.Process(id), rows[id], s.levels.spans[id])
		p.State = p.Ended.State
		p.Triggers = s.triggers.rules[id]
		p.addRules()
		if !s.Partly {
			p.nameUnknown()
		}
		p.Gone = newDiscardSummary(f)
	}
	for _, f := range found.Gone() {
		r := &removedSummary{Instance: f.Name(), Pid: f.Pid, Discarded: newDiscardSummary(f)}
		if !redacted {
			r.Title = f.Title()
		}
		m.Removed = append(m.Removed, r)
	}
	m.Kept = keptIn(found.Dirs(), s.triggers.texts(), redacted)
}

// newDiscardSummary is nil if nothing of the process was discarded.
func newDiscardSummary(p *ingest.Process) *discardSummary {
	d := p.Discards()
	if d.Chunks == 0 {
		return nil
	}
	s := &discardSummary{Chunks: d.Chunks, Bytes: d.Bytes, Why: d.Why}
	if d.From != 0 {
		s.From = Moment(d.From)
	}
	if d.To != 0 {
		s.To = Moment(d.To)
	}
	return s
}

// String is the summary for a person.
func (d *discardSummary) String() string {
	const layout = "2006-01-02 15:04:05.000"
	text := fmt.Sprintf("%s, %s", human.Plural(int(d.Chunks), "chunk"), human.Bytes(d.Bytes))
	if !d.From.IsZero() {
		text += ", from " + d.From.Format(layout)
	}
	if !d.To.IsZero() {
		text += " to " + d.To.Format(layout)
	}
	if d.Why != "" {
		text += ": " + d.Why
	}
	return text
}

// Print prints the summary for a person.
func (m *recordingSummary) Print(w io.Writer) {
	if len(m.Processes) == 0 {
		fmt.Fprintln(w, "0 processes")
		return
	}
	fmt.Fprintf(w, "%s, %s UTC, %v\n", human.Plural(len(m.Processes), "process"), m.Start.Format("2006-01-02 15:04:05.000"), m.End.Sub(m.Start).Round(time.Millisecond))
	for _, p := range m.Processes {
		p.print(w, m.Start)
	}
	for _, r := range m.Removed {
		fmt.Fprintf(w, "\n%s\n  nothing is left: it made way for others of the session\n  instance   %s\n  discarded  %s\n", wording.Printable(cmp.Or(r.Title, fmt.Sprintf("pid %d", r.Pid))), r.Instance, r.Discarded)
	}
	for _, k := range m.Kept {
		k.print(w)
	}
	m.printUnnamed(w)
}

// maxTrackName is the most width for names of tracks; JSON has whole names.
const maxTrackName = 120

func (p *processSummary) print(out io.Writer, start time.Time) {
	fmt.Fprintf(out, "\n%s\n  %s\n", wording.Printable(p.Title), wording.Printable(p.Ended.Text))
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "  instance\t%s", p.Instance)
	if p.Parent != "" {
		fmt.Fprintf(w, ", child of %s", p.Parent)
	}
	if p.Twin != "" {
		fmt.Fprintf(w, "\n  same as\t%s: top, flame graphs and pprof take the samples and waits of that one while both were recorded", p.Twin)
	}
	if len(p.Args) > 0 {
		fmt.Fprintf(w, "\n  command\t%s", wording.Printable(strings.Join(p.Args, " ")))
	}
	fmt.Fprintln(w)
	from, to := p.Start.Sub(start).Round(time.Millisecond), p.End.Sub(start).Round(time.Millisecond)
	if p.File != "" {
		fmt.Fprintf(w, "  file\t%s\n", wording.Printable(p.File))
	}
	if p.Format != "" {
		fmt.Fprintf(w, "  recorded\t+%v to +%v, %s file of %s\n", from, to, p.Format, human.Bytes(p.Bytes))
		fmt.Fprintf(w, "  lacks\t%s\n", p.Lacks)
	} else {
		fmt.Fprintf(w, "  recorded\t+%v to +%v, %s in %s\n", from, to, human.Bytes(p.Bytes), human.Plural(p.Chunks, "chunk"))
	}
	if p.Gone != nil {
		fmt.Fprintf(w, "  discarded\t%v\n", p.Gone)
	}
	if p.Cost != nil {
		fmt.Fprintf(w, "  recording took\t%s\n", p.Cost)
	}
	p.printCounts(w)
	for _, t := range p.Traces {
		fmt.Fprintf(w, "  trace\t%s, %s\n", t.Name, human.Bytes(t.Bytes))
	}
	for _, t := range p.Triggers {
		t.print(w, start)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Tests)) {
		if p.Tests[name] != "" { // redacted
			fmt.Fprintf(w, "  uses\t%s\n", wording.Printable(name+": "+p.Tests[name]))
		}
	}
	for _, t := range p.Tracks {
		if t.Samples+t.Markers > 0 {
			fmt.Fprintf(w, "  track\t%s\t%s\t%s\n", human.CutFront(wording.Printable(t.Name), maxTrackName), human.Plural(int(t.Samples), "sample"), human.Plural(int(t.Markers), "marker"))
		}
	}
	w.Flush()
}

// printCounts prints the number of events of each kind.
func (p *processSummary) printCounts(w io.Writer) {
	if p.Counts == nil {
		return
	}
	of := func(kind stream.Kind, what string) string { return human.Plural(int(p.Counts[kind.String()]), what) }
	fmt.Fprintf(w, "  events\t%s, %s, %s\n", of(stream.Samples, "sample"), of(stream.Markers, "marker"), of(stream.Counts, "counter row"))
	if n := p.Counts[stream.Allocations.String()]; n > 0 {
		fmt.Fprintf(w, "  heap\t%s%s\n", human.Plural(int(n), "allocation row"), p.Heap)
	}
	if n := p.Counts[stream.Measurements.String()]; n > 0 {
		fmt.Fprintf(w, "  measured\t%s: %s\n", human.Plural(int(n), "row"), wording.Printable(strings.Join(slices.Sorted(maps.Keys(p.Measures)), ", ")))
	}
	if n := p.Counts[stream.Waits.String()]; n > 0 {
		fmt.Fprintf(w, "  waits\t%s\n", human.Plural(int(n), "row"))
	}
}

// printUnnamed says which binaries would give missing names.
func (m *recordingSummary) printUnnamed(out io.Writer) {
	sum, advice := 0, "No build id tells which binary has them:"
	for _, u := range m.Unnamed {
		sum += u.Frames
		if u.Build != "" {
			advice = "The binary with this build id has them; give it with --symbols:"
		}
	}
	if sum == 0 {
		return
	}
	fmt.Fprintf(out, "\n%d of %s have no name. %s\n", sum, human.Plural(*m.Frames, "frame"), advice)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	kernel, made := false, false
	for _, u := range m.Unnamed {
		kernel, made = kernel || u.Module == kernelModule, made || u.Module == madeModule
		fmt.Fprintf(w, "  %s\t%s\t%s\n", wording.Printable(human.OrDash(u.Build)), human.Plural(u.Frames, "frame"), wording.Printable(u.Module))
	}
	w.Flush()
	if kernel {
		fmt.Fprintln(out, "  Of the kernel that runs here --symbols /proc/kallsyms has them, read as root.")
	}
	if made {
		fmt.Fprintf(out, "  %s is what a process made as it ran: in a perf.data --symbols /tmp/perf-PID.map names it, if the process wrote that.\n", madeModule)
	}
}
