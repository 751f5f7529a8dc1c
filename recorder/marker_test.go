package recorder_test

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"gprof/rawformat"
	"gprof/recorder"
)

const (
	kindPause  = rawformat.KindPause
	kindResume = rawformat.KindResume
)

// arg is an argument as it should be on the wire.
func sint(v int64) rawformat.Arg     { return rawformat.Int(v) }
func uintArg(v uint64) rawformat.Arg { return rawformat.Uint64(v) }
func str(s string) rawformat.Arg     { return rawformat.String(s) }

func float(v float64) rawformat.Arg { return rawformat.Float(v) }

func TestMarkers(t *testing.T) {
	long := strings.Repeat("x", 1022) + "€€" // the bound lies within the first €
	for _, tt := range []struct {
		name  string
		event string
		mark  func()
		kind  rawformat.Kind
		args  []rawformat.Arg
	}{
		{"none", "none", func() { none.Mark() }, rawformat.KindInstant, nil},
		{"one", "one", func() { one.Mark(-7) }, rawformat.KindInstant, []rawformat.Arg{sint(-7)}},
		{"one byte", "one", func() { one.Mark(63) }, rawformat.KindInstant, []rawformat.Arg{sint(63)}},
		{"two bytes", "one", func() { one.Mark(-8192) }, rawformat.KindInstant, []rawformat.Arg{sint(-8192)}},
		{"three bytes", "one", func() { one.Mark(8192) }, rawformat.KindInstant, []rawformat.Arg{sint(8192)}},
		{"most negative", "one", func() { one.Mark(math.MinInt64) }, rawformat.KindInstant, []rawformat.Arg{sint(math.MinInt64)}},
		{"one started", "one", func() { one.Start(3) }, rawformat.KindStart, []rawformat.Arg{sint(3)}},
		{"one ended", "one", func() { one.End(4) }, rawformat.KindEnd, []rawformat.Arg{sint(4)}},
		{"one interval", "one", func() { one.Interval(recorder.Now(), 5) }, rawformat.KindInterval, []rawformat.Arg{sint(5)}},
		{"two", "two", func() { two.Mark(math.MaxUint64, "/a/b") }, rawformat.KindInstant, []rawformat.Arg{uintArg(math.MaxUint64), str("/a/b")}},
		{"empty text", "two", func() { two.Start(1, "") }, rawformat.KindStart, []rawformat.Arg{uintArg(1), str("")}},
		{"long text", "two", func() { two.Mark(1, long) }, rawformat.KindInstant, []rawformat.Arg{uintArg(1), str(long[:1021] + "…")}},
		{"cut between runes", "two", func() { two.Mark(1, "x"+strings.Repeat("€", 400)) }, rawformat.KindInstant, []rawformat.Arg{uintArg(1), str("x" + strings.Repeat("€", 340) + "…")}},
		{"cut behind a rune's first byte", "two", func() { two.Mark(1, strings.Repeat("€", 400)) }, rawformat.KindInstant, []rawformat.Arg{uintArg(1), str(strings.Repeat("€", 340) + "…")}},
		{"cut before a rune's last byte", "two", func() { two.Mark(1, "xx"+strings.Repeat("𝄞", 300)) }, rawformat.KindInstant, []rawformat.Arg{uintArg(1), str("xx" + strings.Repeat("𝄞", 254) + "…")}},
		{"longest text", "two", func() { two.Mark(1, long[:1022]+"ab") }, rawformat.KindInstant, []rawformat.Arg{uintArg(1), str(long[:1022] + "ab")}},
		{"three", "three", func() { three.End(-1.5, true, -time.Second) }, rawformat.KindEnd, []rawformat.Arg{float(-1.5), uintArg(1), sint(-1e9)}},
		{"three interval", "three", func() { three.Begin(2.5, false, time.Second).End() }, rawformat.KindInterval, []rawformat.Arg{float(2.5), uintArg(0), sint(1e9)}},
		{"four", "four", func() { four.Mark(-1, 2, "3", 0.25) }, rawformat.KindInstant, []rawformat.Arg{sint(-1), uintArg(2), str("3"), float(0.25)}},
		{"four scoped", "four", func() { defer four.Begin(1, 2, "three", 0.5).End() }, rawformat.KindInterval, []rawformat.Arg{sint(1), uintArg(2), str("three"), float(0.5)}},
		{"untyped", "by name", func() { recorder.Mark("by name") }, rawformat.KindInstant, nil},
		{"text", "note", func() { recorder.Text("note", "hello") }, rawformat.KindInstant, []rawformat.Arg{str("hello")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rec := begin(t, recorder.Options{})
			tt.mark()
			tt.mark() // the first one of a page goes another way
			r := finish(t, rec)
			found := r.of(tt.event)
			if len(found) != 2 {
				t.Fatalf("%d markers, want 2; %d lost, limit %s", len(found), r.lost(), r.meta(rawformat.MetaLimit))
			}
			for _, e := range found {
				if !slices.EqualFunc(tt.args, e.args, sameArg) || e.kind != tt.kind {
					t.Errorf("kind %d, want %d; arguments %v\nwant %v", e.kind, tt.kind, e.args, tt.args)
				}
			}
		})
	}
}

func sameArg(a, b rawformat.Arg) bool {
	return a.Wire == b.Wire && a.Num == b.Num && string(a.Text) == string(b.Text)
}

// Times are on CLOCK_MONOTONIC, which tests see through time.Since only: each
// marker lies between clock readings before and after it, by one difference for all.
func TestTimes(t *testing.T) {
	rec := begin(t, recorder.Options{})
	var before, after []recorder.Time
	for i := range 5 {
		before = append(before, recorder.Now())
		one.Mark(int64(i))
		after = append(after, recorder.Now())
		time.Sleep(time.Duration(i) * time.Millisecond) // deltas of one to four bytes
	}
	begun := recorder.Now()
	time.Sleep(time.Millisecond)
	least := recorder.Now() - begun
	one.Interval(begun, 5)
	most := recorder.Now() - begun
	found := finish(t, rec).of("one")
	if len(found) != 6 {
		t.Fatalf("%d markers, want 6", len(found))
	}
	const slack = recorder.Time(time.Microsecond) // of times that are counted in ticks
	low, high := recorder.Time(math.MinInt64), recorder.Time(math.MaxInt64)
	for i, e := range found[:5] {
		low, high = max(low, recorder.Time(e.at)-after[i]), min(high, recorder.Time(e.at)-before[i])
	}
	if low > high+slack {
		t.Errorf("markers are %d ns off", low-high)
	}
	if d := recorder.Time(found[5].dur); d < least-slack || d > most+slack {
		t.Errorf("interval of %d ns, want %d to %d", d, least, most)
	}
}

// What lies in the definitions is what was said.
func TestDefinitions(t *testing.T) {
	recorder.NewEvent2("defined",
		recorder.User("who").Label("Who").Searchable().Color().Graph(recorder.GraphBar, "red"),
		recorder.Int64("much").Unit(recorder.UnitBytes).Hidden().Graph(recorder.GraphLine, "teal"),
		recorder.Category("Disk", "blue"), recorder.Display(recorder.InTable|recorder.InFileIO),
		recorder.ChartLabel("c"), recorder.TooltipLabel("t"), recorder.TableLabel("l"),
		recorder.Description("What it is."), recorder.Nested())
	rec := begin(t, recorder.Options{})
	r := finish(t, rec)
	id := r.events["defined"]
	got := r.definitionsOf(id)
	want := []string{
		`def-event id=N category=C name="defined" display=34 chart="c" tooltip="t" table="l"`,
		`def-show event=N flags=1 description="What it is."`,
		`def-graph event=N position=1 shape=1 color="teal"`,
		`def-field event=N position=0 name="who" label="Who" wire=3 format=2 privacy=3 flags=9`,
		`def-field event=N position=1 name="much" label="" wire=0 format=3 privacy=0 flags=2`,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("definitions %v\nwant %v", got, want)
	}
}

// A category and its parts are defined each by itself, and once.
func TestSubcategories(t *testing.T) {
	for _, part := range []string{"DNS", "", "TLS", "DNS"} {
		recorder.NewEvent("parts", recorder.Subcategory(part), recorder.Category("Network", "blue"))
	}
	r := finish(t, begin(t, recorder.Options{}))
	var got []string
	for _, d := range r.Dicts {
		for _, rec := range d.All(nil) {
			line := string(rawformat.FormatBlock(nil, append([]byte{byte(rec.Kind)}, rec.Body...)))
			if _, rest, ok := strings.Cut(line, ` name="Network" color="blue" `); ok {
				got = append(got, rest)
			}
		}
	}
	if !reflect.DeepEqual(got, []string{`sub="DNS"`, `sub=""`, `sub="TLS"`}) {
		t.Errorf("%v\nwant %v", got, []string{`sub="DNS"`, `sub=""`, `sub="TLS"`})
	}
}

// All constructors of fields state wire type, unit and privacy.
func TestFields(t *testing.T) {
	recorder.NewEvent4("fields a", recorder.Int("1"), recorder.Int64("2"), recorder.Uint("3"), recorder.Hex("4"))
	recorder.NewEvent4("fields b", recorder.Bytes("5"), recorder.Float("6"), recorder.Percent("7"), recorder.Bool("8"))
	recorder.NewEvent4("fields c", recorder.Duration("9"), recorder.Flow("10"), recorder.FlowEnd("11"), recorder.String("12"))
	recorder.NewEvent4("fields d", recorder.Path("13"), recorder.URL("14"), recorder.User("15"), recorder.Secret("16"))
	recorder.NewEvent2("fields e", recorder.LocalFlow("17"), recorder.LocalFlowEnd("18"))
	recorder.NewEvent2("fields f", recorder.Moment("19"), recorder.Word("20"))
	rec := begin(t, recorder.Options{})
	r := finish(t, rec)
	var got []string
	for _, name := range []string{"fields a", "fields b", "fields c", "fields d", "fields e", "fields f"} {
		for _, f := range r.definitionsOf(r.events[name])[1:] {
			_, spec, _ := strings.Cut(f, `label="" `)
			got = append(got, spec)
		}
	}
	want := []string{
		"wire=0 format=0 privacy=0 flags=0", "wire=0 format=0 privacy=0 flags=0", "wire=1 format=0 privacy=0 flags=0", "wire=1 format=7 privacy=0 flags=0",
		"wire=0 format=3 privacy=0 flags=0", "wire=2 format=1 privacy=0 flags=0", "wire=2 format=6 privacy=0 flags=0", "wire=1 format=8 privacy=0 flags=0",
		"wire=0 format=4 privacy=0 flags=0", "wire=1 format=12 privacy=0 flags=0", "wire=1 format=13 privacy=0 flags=0", "wire=3 format=2 privacy=0 flags=0",
		"wire=3 format=9 privacy=1 flags=0", "wire=3 format=10 privacy=2 flags=0", "wire=3 format=2 privacy=3 flags=0", "wire=3 format=2 privacy=4 flags=0",
		"wire=1 format=12 privacy=0 flags=4", "wire=1 format=13 privacy=0 flags=4",
		"wire=0 format=22 privacy=0 flags=0", "wire=3 format=11 privacy=0 flags=0",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("fields %v\nwant %v", got, want)
	}
}
