package redact_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gprof/stream"
	"gprof/stream/filter"
	"gprof/stream/redact"
	"gprof/stream/streamtest"
)

var hashAll = redact.Options{Paths: redact.Hash, URLs: redact.Hash, Users: redact.Hash, Secrets: redact.Hash, Names: redact.Hash,
	Key: []byte("a key for tests")}

var dropAll = redact.Options{Paths: redact.Drop, URLs: redact.Drop, Users: redact.Drop, Secrets: redact.Drop, Names: redact.Drop}

func TestRedactConforms(t *testing.T) {
	for _, how := range []redact.Options{{}, hashAll, dropAll} {
		streamtest.TestSource(t, func(t *testing.T) stream.Source {
			return redact.New(how).Source(streamtest.Busy(3000).Source())
		})
	}
}

// Every case of the sinks' suite stays valid, redacted or not, and is the same in any
// order.
func TestRedactCases(t *testing.T) {
	for _, c := range streamtest.Cases {
		t.Run(c.Name, func(t *testing.T) {
			for _, how := range []redact.Options{{}, hashAll, dropAll} {
				b := streamtest.NewBuilder()
				c.Build(b)
				if err := stream.Copy(streamtest.Validate(stream.Discard), redact.New(how).Source(b.Source()), stream.CopyOptions{}); err != nil {
					t.Errorf("%v: %v", how, err)
				}
			}
		})
	}
}

// Addresses of memory are secrets. Hashed ones stay equal and no longer tell where it lay; made-up
// ones, which are below 0, tell nothing.
func TestRedactAddresses(t *testing.T) {
	for _, c := range []struct {
		how  redact.Options
		fits func(a []int64) bool
	}{
		{redact.Options{}, func(a []int64) bool { return slices.Equal(a, []int64{0x7f00, 0x7f10, 0x7f00, -9}) }},
		{dropAll, func(a []int64) bool { return slices.Equal(a, []int64{0, 0, 0, -9}) }},
		{hashAll, func(a []int64) bool {
			return a[0] == a[2] && a[0] != a[1] && a[0] > 0 && a[0] != 0x7f00 && a[3] == -9
		}},
	} {
		got := redactedOf(t, c.how, func(b *streamtest.Builder) {
			p := b.Process(stream.Process{Instance: 1})
			for i, address := range []int64{0x7f00, 0x7f10, 0x7f00, -9} {
				p.Main.AllocateAt(stream.Time(i+1), b.Stack("malloc"), 8, address, 1)
			}
		}).addresses
		if !c.fits(got) {
			t.Errorf("%+v: %v", c.how, got)
		}
	}
}

// argumentSink is a Sink that keeps the arguments and addresses of all rows.
type argumentSink struct {
	tables    *stream.Tables
	args      []any
	addresses []int64
}

func (s *argumentSink) Begin(t *stream.Tables) error { s.tables = t; return nil }
func (s *argumentSink) Close() error                 { return nil }
func (s *argumentSink) Segment(b *stream.Batch) error {
	for _, row := range streamtest.Rows(b) {
		s.args, s.addresses = append(s.args, row.Args...), append(s.addresses, row.Address)
	}
	return nil
}

func redactedOf(t *testing.T, how redact.Options, build func(*streamtest.Builder)) *argumentSink {
	t.Helper()
	b := streamtest.NewBuilder()
	build(b)
	s := new(argumentSink)
	if err := stream.Copy(streamtest.Validate(s), redact.New(how).Source(b.Source()), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	return s
}

func field(name string, p stream.Privacy) stream.EventField {
	return stream.EventField{Name: name, Type: stream.Text, Format: stream.FormatText, Privacy: p}
}

// everyKind marks one event with a field of each kind.
func everyKind(b *streamtest.Builder) {
	p := b.Process(stream.Process{Instance: 1})
	e := b.Event(stream.Event{Name: "e", Fields: []stream.EventField{
		field("plain", stream.PrivacyPlain), field("path", stream.PrivacyPath), field("url", stream.PrivacyURL),
		field("user", stream.PrivacyUser), field("secret", stream.PrivacySecret),
	}})
	p.Main.Mark(1, stream.Instant, e, "p", "/home/anna", "https://a.example/b", "anna", "x")
	p.Main.Mark(2, stream.Instant, e, "p", "/home/anna", "https://a.example/c", "anna", nil)
	p.Main.Mark(3, stream.Instant, e, 7, "", "a.example/b", "berta", 7)
}

func TestRedactFields(t *testing.T) {
	got := redactedOf(t, redact.Options{}, everyKind)
	if got.args[1] != "/home/anna" || len(got.tables.Ledger.Lines()) != 0 {
		t.Errorf("nothing to redact: %v, %v", got.args, got.tables.Ledger.Lines())
	}
	got = redactedOf(t, dropAll, everyKind)
	if want := []any{"p", nil, nil, nil, nil, "p", nil, nil, nil, nil, nil, "", nil, nil, nil}; !cmp.Equal(got.args, want) {
		t.Errorf("dropped: %v, want %v", got.args, want)
	}
	got = redactedOf(t, hashAll, everyKind)
	for i, x := range got.args {
		for _, word := range []string{"anna", "berta", "example", "home"} {
			if strings.Contains(fmt.Sprint(x), word) {
				t.Errorf("value %d is %v", i, x)
			}
		}
	}
	url := func(i int) []string { return strings.Split(got.args[i].(string), "/") } // https:, "", host, rest
	switch {
	case got.args[1] != got.args[6] || got.args[3] != got.args[8]:
		t.Errorf("equal values differ: %v", got.args)
	case got.args[3] == got.args[13]:
		t.Errorf("two users are one: %v", got.args)
	case !slices.Equal(url(2)[:3], url(7)[:3]) || url(2)[3] == url(7)[3] || url(2)[0] != "https:":
		t.Errorf("two pages of one server: %v, %v", got.args[2], got.args[7])
	}
	want := []stream.Line{
		{Process: "0000000000000001", Reason: stream.ReasonRedacted, What: "URLs", Where: "hashed", Count: 3},
		{Process: "0000000000000001", Reason: stream.ReasonRedacted, What: "paths", Where: "hashed", Count: 2},
		{Process: "0000000000000001", Reason: stream.ReasonRedacted, What: "secrets", Where: "hashed", Count: 3}, // and the number that should be a text
		{Process: "0000000000000001", Reason: stream.ReasonRedacted, What: "users", Where: "hashed", Count: 3},
	}
	if diff := cmp.Diff(want, got.tables.Ledger.Lines()); diff != "" {
		t.Errorf("ledger:\n%s", diff)
	}
}

// Without the key, nobody can find the value of a hash by guessing.
func TestRedactKey(t *testing.T) {
	other := hashAll
	other.Key = []byte("another key")
	a, b, c := redactedOf(t, hashAll, everyKind), redactedOf(t, other, everyKind), redactedOf(t, hashAll, everyKind)
	if a.args[1] == b.args[1] || a.args[1] != c.args[1] {
		t.Errorf("%v, with another key %v, with the same %v", a.args[1], b.args[1], c.args[1])
	}
}

// One kind can be redacted without the others.
func TestRedactOneKind(t *testing.T) {
	got := redactedOf(t, redact.Options{Users: redact.Drop}, everyKind)
	if want := []any{"p", "/home/anna", "https://a.example/b", nil, "x"}; !cmp.Equal(got.args[:5], want) {
		t.Errorf("%v, want %v", got.args[:5], want)
	}
}

// If numbers are hashed, their field must take texts.
func TestRedactNumbers(t *testing.T) {
	got := redactedOf(t, hashAll, func(b *streamtest.Builder) {
		p := b.Process(stream.Process{Instance: 1})
		p.Main.Mark(1, stream.Instant, b.Event(stream.Event{Name: "e", Fields: []stream.EventField{
			{Name: "account", Type: stream.Uint, Format: stream.FormatBytes, Privacy: stream.PrivacyUser},
			{Name: "n", Type: stream.Int, Format: stream.FormatInteger},
			{Name: "m", Type: stream.Int, Format: stream.FormatInteger},
			{Name: "repeats", Type: stream.Uint, Format: stream.FormatString},
		}}), uint64(4711), 5, "odd", "plain")
	})
	f := got.tables.Events[0].Fields
	if f[0].Type != stream.Text || f[0].Format != stream.FormatText || f[1].Type != stream.Int {
		t.Errorf("fields %+v", f)
	}
	if s, _ := got.args[0].(string); !strings.HasPrefix(s, "user:") || got.args[1] != int64(5) || got.args[3] != "plain" {
		t.Errorf("values %v", got.args)
	}
	if s, _ := got.args[2].(string); !strings.HasPrefix(s, "secret:") {
		t.Errorf("a text where a number should be: %v", got.args[2])
	}
}

// Paths of code become those of go build -trimpath.
func TestRedactCode(t *testing.T) {
	got := redactedOf(t, redact.Options{Paths: redact.Drop}, func(b *streamtest.Builder) {
		s := func(text string) stream.StringID { return b.Tables.Strings.Intern(text) }
		shop := b.Tables.Modules.Intern(stream.Module{Build: "c0ffee", Path: "/home/anna/bin/shop", Name: "shop"})
		lib := b.Tables.Modules.Intern(stream.Module{Path: "/home/anna/lib/libc.so", Name: "libc.so"})
		other := b.Tables.Modules.Intern(stream.Module{Path: "/home/berta/lib/libc.so", Name: "libc.so"})
		p := b.Process(stream.Process{Instance: 1, Name: "shop", Exe: "/home/anna/bin/shop"})
		p.Main.Sample(1, b.StackOf(
			stream.Frame{Module: shop, Function: s("github.com/x/y.(*T[a/b.C]).run"), File: s("/home/anna/go/pkg/mod/github.com/x/y@v1/t.go")},
			stream.Frame{Module: lib, Function: s("malloc"), File: s(`C:\Users\anna\malloc.c`)},
			stream.Frame{Module: other, Function: s("malloc")}))
	})
	var texts []string
	tables := got.tables
	for id := stream.FrameID(1); int(id) <= tables.Frames.Len(); id++ {
		f := tables.Frames.At(id)
		texts = append(texts, tables.Strings.At(f.File), tables.Modules.At(f.Module).Path)
	}
	all := strings.Join(texts, " ")
	if strings.Contains(all, "anna") || !strings.Contains(all, "github.com/x/y/t.go shop") || !strings.Contains(all, "malloc.c") {
		t.Errorf("files and modules: %q", texts)
	}
	if tables.Modules.Len() != 3 || tables.Processes[0].Exe != "shop" {
		t.Errorf("%d modules, exe %q", tables.Modules.Len(), tables.Processes[0].Exe)
	}
}

// A redacted name is the same in the tables and in the ledger.
func TestRedactNames(t *testing.T) {
	build := func(b *streamtest.Builder) {
		p := b.Process(stream.Process{Instance: 1, Name: "shop"})
		p.Track("anna").Sample(1, 0)
		p.Track("berta").Sample(2, 0)
		p.TrackOf(stream.Track{Name: "main.main", Root: true}).Sample(3, 0)
		p.TrackOf(stream.Track{Name: "for anna", Root: true}).Sample(4, b.StackOf(stream.Frame{Label: true, Function: b.Tables.Strings.Intern("for anna")}))
		for i, name := range []string{"anna's", "berta's", stream.CounterRSS, "thread 12 anna"} {
			p.Count(1, p.Counter(stream.Counter{Name: name, Description: "what", Own: !strings.HasSuffix(name, "'s")}), int64(i), 0)
		}
		p.Main.Sample(1, b.StackOf(stream.Frame{Label: true, Function: b.Tables.Strings.Intern("anna")}, stream.Frame{Function: b.Tables.Strings.Intern("anna")}))
		for what, where := range map[string]string{"events of tracks": "anna", "values of counters": "anna's"} {
			b.Tables.Ledger.Add(stream.Line{Process: "0000000000000001", Reason: stream.ReasonExpired, What: what, Where: where, Count: 1})
		}
	}
	names := func(t *stream.Tables) (all []string) {
		for id := stream.TrackID(1); int(id) <= t.Tracks.Len(); id++ {
			all = append(all, t.Tracks.At(id).Name)
		}
		for id := stream.CounterID(1); int(id) <= t.Counters.Len(); id++ {
			all = append(all, t.Counters.At(id).Name)
		}
		return all
	}
	got := redactedOf(t, hashAll, build).tables
	all := names(got)
	for _, line := range got.Ledger.Lines() {
		if line.Reason == stream.ReasonExpired && !slices.Contains(all, line.Where) {
			t.Errorf("the ledger calls it %q, the tables have %q", line.Where, all)
		}
	}
	if text := fmt.Sprint(all); len(all) != 9 || strings.Contains(text, "anna") || !strings.Contains(text, "main.main") || !strings.Contains(text, "RSS") || !strings.Contains(text, "thread 12") {
		t.Errorf("hashed: %q", all)
	}
	if functions := got.Frames.Len(); functions != 3 {
		t.Errorf("%d frames: a label is not the function of its name", functions)
	}
	all = names(redactedOf(t, redact.Options{Names: redact.Drop}, build).tables)
	if want := []string{"shop", "main.main", "track", "RSS", "counter", "thread 12 name"}; !cmp.Equal(all, want) {
		t.Errorf("dropped: %q, want %q", all, want)
	}
}

// A page in a private window is a secret, and so is the fact that it was private.
func TestRedactPages(t *testing.T) {
	got := redactedOf(t, redact.Options{URLs: redact.Hash, Users: redact.Hash, Secrets: redact.Drop}, func(b *streamtest.Builder) {
		p := b.Process(stream.Process{Instance: 1})
		p.Page(1, stream.PhaseStart, 1, 2, 0, 0, "https://example.org/a")
		p.Page(2, stream.PhaseStart, 1, 3, 0, 1, "https://example.org/b")
		p.Page(3, stream.PhaseEnd, 0, 2, 0, 0, "")
	})
	if s, _ := got.args[4].(string); !strings.HasPrefix(s, "https://") || strings.Contains(s, "example") {
		t.Errorf("a page became %v", got.args[4])
	}
	if rest := []any{got.args[3], got.args[8], got.args[9], got.args[14]}; !cmp.Equal(rest, []any{nil, nil, nil, ""}) {
		t.Errorf("flags and the private page: %v", rest)
	}
}

// Rows that wait for the end of a marker are redacted before they are kept, and only
// once; queries apply to the recorded values.
func TestRedactDuring(t *testing.T) {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1})
	e := b.Event(stream.Event{Name: "request", Fields: []stream.EventField{field("user", stream.PrivacyUser)}})
	p.Main.Interval(10, 10, e, "anna")
	p.Main.Interval(30, 10, e, "berta")
	p.Main.Sample(15, 0)
	query, err := filter.ParseQuery("request[user=anna]")
	if err != nil {
		t.Fatal(err)
	}
	r := redact.New(hashAll)
	kept := &argumentSource{Source: filter.During(b.Source(), []filter.Query{query}, filter.DuringOptions{Redact: r})}
	s := new(argumentSink)
	if err := stream.Copy(streamtest.Validate(s), r.Source(kept), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	want := redactedOf(t, hashAll, func(b *streamtest.Builder) {
		b.Process(stream.Process{Instance: 1}).Main.Interval(10, 10, b.Event(stream.Event{Name: "request", Fields: []stream.EventField{field("user", stream.PrivacyUser)}}), "anna")
	}).args
	if !cmp.Equal(s.args, want) || !cmp.Equal(kept.args, want) {
		t.Errorf("kept %v, given %v, want %v", kept.args, s.args, want)
	}
}

// argumentSource notes the arguments that its source gives.
type argumentSource struct {
	stream.Source
	args []any
}

func (w *argumentSource) Next(b *stream.Batch) error {
	err := w.Source.Next(b)
	for _, row := range streamtest.Rows(b) {
		w.args = append(w.args, row.Args...)
	}
	return err
}

// A tag has the name of what it stands for, redacted or not.
func TestRedactTags(t *testing.T) {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Service: "checkout", Host: "anna's", Attrs: []stream.Attr{{Key: "owner", Value: "anna"}}})
	p.Track("of anna").Sample(1, b.StackOf(stream.Frame{Label: true, Function: b.Tables.Strings.Intern("for anna")}))
	how := hashAll
	how.Secrets = redact.Drop
	s := new(argumentSink)
	if err := stream.Copy(streamtest.Validate(s), filter.TagRoot(redact.New(how).Source(b.Source()), "service", "host", "track"), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	var names []string
	for id := stream.StringID(1); int(id) <= s.tables.Strings.Len(); id++ {
		names = append(names, s.tables.Strings.At(id))
	}
	host, track := s.tables.Processes[0].Host, s.tables.Tracks.At(2).Name
	for _, want := range []string{"service:checkout", "host:" + host, "track:" + track} {
		if !slices.Contains(names, want) {
			t.Errorf("%q has no %q", names, want)
		}
	}
	if strings.Contains(fmt.Sprint(names), "anna") || len(names) != 4 {
		t.Errorf("labels %q", names)
	}
}
