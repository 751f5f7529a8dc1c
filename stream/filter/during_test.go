package filter_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gprof/stream"
	"gprof/stream/filter"
	"gprof/stream/redact"
	"gprof/stream/streamtest"
)

func query(t testing.TB, text string) filter.Query {
	q, err := filter.ParseQuery(text)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func during(t testing.TB, all bool, texts ...string) func(stream.Source) stream.Source {
	var queries []filter.Query
	for _, text := range texts {
		queries = append(queries, query(t, text))
	}
	return func(src stream.Source) stream.Source {
		return filter.During(src, queries, filter.DuringOptions{All: all, SpillDir: t.TempDir()})
	}
}

// Every filter conforms as a source, and gives the same rows in whatever order they come.
func TestFiltersConform(t *testing.T) {
	filters := map[string]func(stream.Source) stream.Source{
		"during":     during(t, false, "*"),
		"during all": during(t, true, "*"),
		"tracks":     func(src stream.Source) stream.Source { return filter.ByTrack(src, filter.Tracks{"*"}, nil) },
		"categories": func(src stream.Source) stream.Source { return filter.ByCategory(src, filter.Patterns{"*"}) },
		"tagroot":    func(src stream.Source) stream.Source { return filter.TagRoot(src, "track", "pid") },
	}
	for name, filter := range filters {
		t.Run(name, func(t *testing.T) {
			streamtest.TestSource(t, func(t *testing.T) stream.Source { return filter(streamtest.Busy(3000).Source()) })
			var want bytes.Buffer
			if err := stream.Copy(streamtest.NewText(&want), filter(streamtest.Busy(3000).Source()), stream.CopyOptions{}); err != nil {
				t.Fatal(err)
			}
			for seed := range uint64(5) {
				var got bytes.Buffer
				if err := stream.Copy(streamtest.NewText(&got), filter(streamtest.Busy(3000).Shuffled(seed)), stream.CopyOptions{}); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got.Bytes(), want.Bytes()) {
					t.Errorf("seed %d: other bytes", seed)
				}
			}
		})
	}
}

// recording is two processes. Each row has a name for the tests, its weight or its only
// argument:
//
//	shop, track a     goroutine 7: request [100,200], inner [120,130]; samples 90 100 150 200 201
//	                  goroutine 8: samples 91 151
//	                  none: sample 152
//	shop, track b     goroutine 7: sample 160; goroutine 9: job starts 300, ends 400; samples 290 350
//	                  goroutine 8: job starts 500
//	shop              counter at 95, 155, 350, 700
//	other, main       request [1000,1001] of no goroutine
//	other, track z    samples 150 1000
func recording() *streamtest.Builder {
	b := streamtest.NewBuilder()
	shop, other := b.Process(stream.Process{Instance: 1, Name: "shop"}), b.Process(stream.Process{Instance: 2, Name: "other"})
	n := []stream.EventField{{Name: "n", Type: stream.Int}}
	request, inner, job := b.Event(stream.Event{Name: "request", Fields: n}), b.Event(stream.Event{Name: "inner", Fields: n}), b.Event(stream.Event{Name: "job", Fields: n})
	a, bb := shop.Track("a"), shop.Track("b")
	sample := func(on *streamtest.Track, goroutine int64, times ...stream.Time) {
		for _, at := range times {
			on.Add(streamtest.Row{Series: stream.Series{Kind: stream.Samples}, Time: at, Stack: b.Stack("main"), Weight: int64(at), CPU: -1, Owner: stream.Owner{Goroutine: goroutine}})
		}
	}
	mark := func(on *streamtest.Track, goroutine int64, e stream.EventID, phase stream.Phase, at stream.Time, duration, n int64) {
		on.Add(streamtest.Row{Series: stream.Series{Kind: stream.Markers, Event: e}, Time: at, Phase: phase, Duration: duration, Args: []any{n}, Owner: stream.Owner{Goroutine: goroutine}})
	}
	mark(a, 7, request, stream.Interval, 100, 100, 1)
	mark(a, 7, inner, stream.Interval, 120, 10, 2)
	sample(a, 7, 90, 100, 150, 200, 201)
	sample(a, 8, 91, 151)
	sample(a, 0, 152)
	sample(bb, 7, 160)
	mark(bb, 9, job, stream.PhaseStart, 300, 0, 3)
	mark(bb, 9, job, stream.PhaseEnd, 400, 0, 4)
	sample(bb, 9, 290, 350)
	mark(bb, 8, job, stream.PhaseStart, 500, 0, 5)
	c := shop.Counter(stream.Counter{Name: "c"})
	for _, at := range []stream.Time{95, 155, 350, 700} {
		shop.Count(at, c, int64(at), 0)
	}
	sample(other.Track("z"), 3, 150, 1000)
	mark(other.Main, 0, request, stream.Interval, 1000, 1, 6)
	return b
}

// names lists the rows of a recording: the weights of samples, m and the argument of a
// marker, c and the value of a counter.
type names struct {
	tables *stream.Tables
	list   []string
}

func (n *names) Begin(t *stream.Tables) error { n.tables = t; return nil }
func (n *names) Close() error                 { return nil }

func (n *names) Segment(b *stream.Batch) error {
	for _, r := range streamtest.Rows(b) {
		switch r.Kind {
		case stream.Samples:
			n.list = append(n.list, fmt.Sprint(r.Weight))
		case stream.Markers:
			n.list = append(n.list, fmt.Sprint("m", r.Args[0]))
		case stream.Counts:
			n.list = append(n.list, fmt.Sprint("c", r.Value))
		}
	}
	return nil
}

func left(t *testing.T, src stream.Source) *names {
	t.Helper()
	n := new(names)
	if err := stream.Copy(n, src, stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(n.list)
	return n
}

func TestDuring(t *testing.T) {
	for _, c := range []struct {
		why     string
		queries []string
		all     bool
		want    string
	}{
		{"goroutine 7 on both tracks, and who tells no goroutine on its track", []string{"request[n=1]"}, false, "100 150 152 160 200 c155 m1 m2"},
		{"an interval that reaches into the time stays", []string{"inner"}, false, "m1 m2"},
		{"all that happened meanwhile, also in other processes", []string{"request[n=1]"}, true, "100 150 150 151 152 160 200 c155 m1 m2"},
		{"a start and its end", []string{"job[duration=100ns]"}, false, "350 c350 m3 m4"},
		{"a field of the end is one of the pair", []string{"job[n=4]"}, false, "350 c350 m3 m4"},
		{"a start without an end lasts to the last event", []string{"job[n=5]"}, false, "c700 m5"},
		{"of a marker that tells neither goroutine nor track, all of its process", []string{"request[n=6]"}, false, "1000 m6"},
		{"several are added up", []string{"inner", "job[n=5]"}, false, "c700 m1 m2 m5"},
	} {
		got := left(t, during(t, c.all, c.queries...)(recording().Source()))
		if text := strings.Join(got.list, " "); text != c.want {
			t.Errorf("%s: %q gives\n%s, want\n%s", c.why, c.queries, text, c.want)
		}
	}
}

// Rows that are left out are counted by process and kind, and tracks and processes
// without rows are not shown.
func TestDuringLeavesOut(t *testing.T) {
	n := left(t, during(t, false, "job[n=4]")(recording().Source()))
	if len(n.tables.Processes) != 1 || n.tables.Tracks.Len() != 2 || len(n.tables.Events) != 1 || n.tables.Counters.Len() != 1 {
		t.Errorf("%d processes, %d tracks, %d events, %d counters; want 1, 2 (b and main), 1, 1", len(n.tables.Processes), n.tables.Tracks.Len(), len(n.tables.Events), n.tables.Counters.Len())
	}
	line := func(process, what string, count int64) stream.Line {
		return stream.Line{Process: process, Reason: stream.ReasonFiltered, What: what, Where: "during", Count: count}
	}
	const shop, other = "0000000000000001", "0000000000000002"
	want := []stream.Line{line(shop, "counts", 3), line(shop, "markers", 3), line(shop, "samples", 90+100+150+200+201+91+151+152+160+290),
		line(other, "markers", 1), line(other, "samples", 1150)}
	if got := n.tables.Ledger.Lines(); !slices.Equal(got, want) {
		t.Errorf("ledger\n%v, want\n%v", got, want)
	}
}

// Fields are told of those events alone whose markers a query names, not of all that have names of their own. Of names, all are.
func TestNoMatchOfFields(t *testing.T) {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Name: "shop"})
	named := []stream.EventField{{Name: "name", Type: stream.Text}, {Name: "key", Type: stream.Int}}
	spans := []stream.EventField{{Name: "name", Type: stream.Text}, {Name: "kind", Type: stream.Int}}
	p.Main.Mark(1, stream.Instant, b.Event(stream.Event{Name: "command", Fields: named, NameField: "name"}), "SET", 1)
	p.Main.Mark(2, stream.Instant, b.Event(stream.Event{Name: "span", Fields: spans, NameField: "name"}), "GET /", 2)
	for query, want := range map[string]string{"command[bogus=1]": "duration, key, name", "GET*[bogus=1]": "duration, kind, name"} {
		err := stream.Copy(stream.Discard, during(t, false, query)(b.Source()), stream.CopyOptions{})
		if !errors.Is(err, filter.ErrNoMatch) || !strings.Contains(err.Error(), "their fields are "+want+", and") {
			t.Errorf("%s: %v", query, err)
		}
	}
	err := stream.Copy(stream.Discard, during(t, false, "nobody")(b.Source()), stream.CopyOptions{})
	if want := "there are:\n  GET /\n  SET\n  command\n  span"; !errors.Is(err, filter.ErrNoMatch) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestNoMatch(t *testing.T) {
	for _, c := range []struct {
		filter func(stream.Source) stream.Source
		want   string
	}{
		{during(t, false, "nobody"), "there are:\n  inner\n  job\n  request"},
		{during(t, false, "request[duration>1s]"), "none of 2 markers is as in request[duration>1s]; their fields are duration, n, and the longest took 100ns"},
		{func(s stream.Source) stream.Source { return filter.ByTrack(s, filter.Tracks{"x", "y"}, nil) }, "there are:\n  a\n  b\n  other\n  z"},
		{func(s stream.Source) stream.Source { return filter.ByCategory(s, filter.Patterns{"x"}) }, "there are:\n  Other"},
		{func(s stream.Source) stream.Source { return filter.TagRoot(s, "zone") }, "there are:\n  instance\n  name\n  pid\n  process\n  track"},
	} {
		err := stream.Copy(stream.Discard, c.filter(recording().Source()), stream.CopyOptions{})
		if !errors.Is(err, filter.ErrNoMatch) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

// Times of markers take memory that can't be spilled: Copy says how much.
func TestDuringMemory(t *testing.T) {
	open := func() stream.Source { // a new one each time: full tables stay full
		b := streamtest.NewBuilder()
		on, e := b.Process(stream.Process{Instance: 1}).Track("t"), b.Event(stream.Event{Name: "e"})
		for i := range stream.Time(100_000) {
			on.Interval(3*i, 1, e)
		}
		return during(t, false, "e")(b.Source())
	}
	memory, rounds := int64(8<<20), 0
	for ; ; rounds++ {
		var need *stream.ErrMemory
		err := stream.Copy(stream.Discard, open(), stream.CopyOptions{Memory: memory})
		if err == nil {
			break
		}
		if !errors.As(err, &need) || need.Need <= memory || memory > 1<<30 {
			t.Fatalf("with %d bytes: %v, want an ErrMemory that needs more", memory, err)
		}
		memory = need.Need
	}
	if rounds == 0 {
		t.Error("100,000 separate times take no memory")
	}
}

func TestTracksAndCategories(t *testing.T) {
	n := left(t, filter.ByTrack(recording().Source(), filter.Tracks{"b", "other"}, nil))
	if got := strings.Join(n.list, " "); got != "160 290 350 c155 c350 c700 c95 m3 m4 m5 m6" {
		t.Errorf("tracks: %s", got)
	}
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1})
	red := b.Category("red", "red")
	frame := func(c stream.CategoryID) stream.Frame {
		return stream.Frame{Function: b.Tables.Strings.Intern("f"), Category: c}
	}
	p.Main.Sample(1, b.StackOf(frame(0), frame(red)))
	p.Main.Sample(2, b.StackOf(frame(red), frame(0)))
	p.Main.Sample(3, 0)
	p.Main.Mark(4, stream.Instant, b.Event(stream.Event{Name: "x", Category: red, Fields: []stream.EventField{{Name: "n"}}}), 1)
	p.Main.Mark(5, stream.Instant, b.Event(stream.Event{Name: "y", Fields: []stream.EventField{{Name: "n"}}}), 2)
	for category, want := range map[filter.Pattern]string{"red": "1 m1", "Other": "1 1 m2", "*": "1 1 1 m1 m2"} {
		if got := strings.Join(left(t, filter.ByCategory(b.Source(), filter.Patterns{category})).list, " "); got != want {
			t.Errorf("category %s: %s, want %s", category, got, want)
		}
	}
}

// Stacks begin with labels, the first key outermost; so does a sample without a
// stack.
func TestTagRoot(t *testing.T) {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Pid: 5, Name: "shop", Attrs: []stream.Attr{{Key: "zone", Value: "eu"}}})
	q := b.Process(stream.Process{Instance: 2, Pid: 6, Name: "other"})
	p.Track("t").Sample(1, b.Stack("main", "work"))
	p.Track("t").Sample(2, 0)
	p.Track("t").Mark(2, stream.Instant, b.Event(stream.Event{Name: "e"}))
	q.Track("u").Add(streamtest.Row{Series: stream.Series{Kind: stream.Samples}, Time: 3, Stack: b.Stack("main"), Weight: 1, Owner: stream.Owner{Goroutine: 9}})
	cart := b.Tables.Labels.Intern(stream.NewLabelSet(stream.Attr{Key: "route", Value: "/cart"}, stream.Attr{Key: "zone", Value: "us"}))
	p.Track("v").Add(streamtest.Row{Series: stream.Series{Kind: stream.Samples}, Time: 4, Stack: b.Stack("main"), Weight: 1, Owner: stream.Owner{Labels: cart}})
	var out stacks
	if err := stream.Copy(&out, filter.TagRoot(b.Source(), "zone", "version", "track", "goroutine", "route"), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	// That nobody has a version is told, and no reason to give up.
	if lines := out.tables.Ledger.Lines(); len(lines) != 1 || lines[0] != (stream.Line{Reason: stream.ReasonNoValue, What: "tags", Where: "version", Count: 1}) {
		t.Errorf("ledger %v", lines)
	}
	want := []string{"samples zone:eu! track:t! main work", "samples zone:eu! track:t!", "markers", "samples zone:us! track:v! route:/cart! main", "samples track:u! goroutine:9! main"}
	if !slices.Equal(out.list, want) {
		t.Errorf("got %q, want %q", out.list, want)
	}
}

// Values that are redacted in the tables are redacted in the labels.
func TestTagRootOfRedacted(t *testing.T) {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Host: "planted", Attrs: []stream.Attr{{Key: "zone", Value: "planted"}}})
	p.Track("t").Sample(1, b.Stack("main"))
	route := b.Tables.Labels.Intern(stream.NewLabelSet(stream.Attr{Key: "route", Value: "planted"}))
	p.Track("t").Add(streamtest.Row{Series: stream.Series{Kind: stream.Samples}, Time: 2, Stack: b.Stack("main"), Weight: 1, Owner: stream.Owner{Labels: route}})
	for _, how := range []redact.Options{{Secrets: redact.Hash, URLs: redact.Hash, Key: make([]byte, 32)}, {Secrets: redact.Drop, URLs: redact.Drop}} {
		var out bytes.Buffer
		src := filter.TagRoot(redact.New(how).Source(b.Source()), "zone", "host", "process", "route")
		if err := stream.Copy(streamtest.NewText(&out), src, stream.CopyOptions{}); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), "planted") || !strings.Contains(out.String(), "zone:") || !strings.Contains(out.String(), "route:") {
			t.Errorf("%+v gives\n%s", how, out.String())
		}
	}
}

// stacks lists the stack of each row; labels bear a !.
type stacks struct {
	tables *stream.Tables
	list   []string
}

func (s *stacks) Begin(t *stream.Tables) error { s.tables = t; return nil }
func (s *stacks) Close() error                 { return nil }

func (s *stacks) Segment(b *stream.Batch) error {
	for _, stack := range b.Stack {
		text := ""
		for stack != 0 {
			parent, frame := s.tables.Stacks.At(stack)
			f := s.tables.Frames.At(frame)
			name := " " + s.tables.Strings.At(f.Function)
			if f.Label {
				name += "!"
			}
			stack, text = parent, name+text
		}
		s.list = append(s.list, b.Series.Kind.String()+text)
	}
	return nil
}

// Markers with names of their own are asked for by these, or by the name of their event.
func TestOwnNames(t *testing.T) {
	for _, tt := range []struct{ query, want string }{
		{"/cart", "5 m1"}, {"/p*", "25 m3"}, {"request", "5 m1 25 m3 35 m4"}, {"/cart[n>1]", ""},
	} {
		b := streamtest.NewBuilder()
		p := b.Process(stream.Process{Instance: 1, Name: "shop"})
		request := b.Event(stream.Event{Name: "request", NameField: "route", Fields: []stream.EventField{{Name: "n", Type: stream.Int}, {Name: "route", Type: stream.Text}}})
		track := p.Track("a")
		for i, name := range []any{"/cart", "/other", "/pay", nil} {
			if name != "/other" {
				track.Interval(stream.Time(10*i+1), 8, request, int64(i+1), name)
			}
			track.Add(streamtest.Row{Series: stream.Series{Kind: stream.Samples}, Time: stream.Time(10*i + 5), Stack: b.Stack("main"), Weight: int64(10*i + 5), CPU: -1})
		}
		var got names
		if err := stream.Copy(&got, during(t, false, tt.query)(b.Source()), stream.CopyOptions{}); err != nil && tt.want != "" {
			t.Fatal(err)
		}
		slices.SortFunc(got.list, func(a, b string) int { return strings.Compare(strings.TrimPrefix(a, "m"), strings.TrimPrefix(b, "m")) })
		want := strings.Fields(tt.want)
		slices.SortFunc(want, func(a, b string) int { return strings.Compare(strings.TrimPrefix(a, "m"), strings.TrimPrefix(b, "m")) })
		if !slices.Equal(got.list, want) {
			t.Errorf("%s: %v, want %v", tt.query, got.list, want)
		}
	}
}
