package recorder_test

import (
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gprof/rawformat"
	"gprof/recorder"
)

const (
	kindPause  = rawformat.KindPause
	kindResume = rawformat.KindResume
)

// sint, uintArg, str and float make arguments as they should be on the wire.
func sint(v int64) rawformat.Arg { return rawformat.Int(v) }

func uintArg(v uint64) rawformat.Arg { return rawformat.Uint64(v) }

func str(s string) rawformat.Arg { return rawformat.String(s) }

func float(v float64) rawformat.Arg { return rawformat.Float(v) }

func TestMarkers(t *testing.T) {
	long := strings.Repeat("x", 1022) + "€€" // the limit lies within the first €
	for _, tt := range []struct {
		name  string
		event string
		mark  func()
		kind  rawformat.Kind
		args  []rawformat.Arg
	}{
		{"none", "none", func() { none.Mark() }, rawformat.KindInstant, nil},
		{"none started", "none", func() { none.Start() }, rawformat.KindStart, nil},
		{"none ended", "none", func() { none.End() }, rawformat.KindEnd, nil},
		{"none interval", "none", func() { none.Interval(recorder.Now()) }, rawformat.KindInterval, nil},
		{"none scoped", "none", func() { none.Begin().End() }, rawformat.KindInterval, nil},
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
			tt.mark() // the first marker of a page takes the slow path
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

// Times are on CLOCK_MONOTONIC, which tests can see only through time.Since: each marker lies
// between the clock readings before and after it, with the same offset for all.
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
	const slack = recorder.Time(time.Microsecond) // because times are counted in ticks
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

// The dictionary has the definitions that the program made.
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
		`def-show event=N flags=1 description="What it is." type=""`,
		`def-graph event=N position=1 shape=1 color="teal"`,
		`def-field event=N position=0 name="who" label="Who" wire=3 format=2 privacy=3 flags=9`,
		`def-field event=N position=1 name="much" label="" wire=0 format=3 privacy=0 flags=2`,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("definitions %v\nwant %v", got, want)
	}
}

// Categories and subcategories are each defined once.
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

// Each marker has the category that it is given, with its color and part, else that of its event.
func TestCategoriesOfMarkers(t *testing.T) {
	cold := recorder.NewCategory("Storage", "green", "cold")
	stored := recorder.NewEvent("stored", recorder.Category("Storage", "orange"), recorder.Subcategory("hot"))
	rec := begin(t, recorder.Options{CPU: recorder.CPUOff})
	stored.Mark()
	stored.In(cold).Mark()
	stored.In(cold).Start()
	recorder.Mark("untyped", recorder.InCategory(cold))
	recorder.Text("untyped with a text", "hello", recorder.InCategory(cold))
	r := finish(t, rec)
	categories, events := map[uint64]string{}, map[uint64]string{}
	for _, d := range r.Dicts {
		for _, rec := range d.All(nil) {
			switch c := rec.Fields(); rec.Kind {
			case rawformat.KindDefCategory:
				categories[c.Uint("id")] = fmt.Sprintf("%s %s %s", c.Text("name"), c.Text("color"), c.Text("sub"))
			case rawformat.KindDefEvent:
				id, category := c.Uint("id"), c.Uint("category")
				events[id] = fmt.Sprintf("%s: %s", c.Text("name"), categories[category])
			}
		}
	}
	var got []string
	for _, e := range r.entries {
		if name := events[e.id]; strings.HasPrefix(name, "stored:") || strings.HasPrefix(name, "untyped") {
			got = append(got, name)
		}
	}
	want := []string{"stored: Storage orange hot", "stored: Storage green cold", "stored: Storage green cold", "untyped: Storage green cold", "untyped with a text: Storage green cold"}
	if !slices.Equal(got, want) {
		t.Errorf("markers %q\nwant %q", got, want)
	}
}

// All constructors of fields define wire type, unit and privacy.
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

var (
	spanNone  = recorder.NewEvent("span none")
	spanOne   = recorder.NewEvent1("span one", recorder.Float("x"))
	spanTwo   = recorder.NewEvent2("span two", recorder.Int("n"), recorder.Uint("u"))
	spanText  = recorder.NewEvent2("span text", recorder.Int("n"), recorder.Path("t"))
	spanFour  = recorder.NewEvent4("span four", recorder.Int("a"), recorder.Int("b"), recorder.Int("c"), recorder.Int("d"))
	spanFloat = recorder.NewEvent2("span floats", recorder.Float("x"), recorder.Float("y"))
)

// Intervals of all shapes have their values and tracks, by the fast path and by the slow one,
// over many pages.
func TestIntervalShapes(t *testing.T) {
	const rounds = 3000
	rec := begin(t, recorder.Options{Limit: 16 << 20, CPU: recorder.CPUOff})
	for i := range rounds {
		spanNone.Begin().End()
		spanOne.Begin(float64(i) / 3).End()
		spanTwo.Begin(-i*i*i, math.MaxUint64-uint64(i)).End()
		spanText.Begin(i, "text").End()
		spanFour.Begin(i, 2, 3, -i).End()
		spanFloat.Begin(1, float64(i)).End()
	}
	r := finish(t, rec)
	args := func(name string, i int) []uint64 {
		var nums []uint64
		for _, a := range r.of(name)[i].args {
			nums = append(nums, a.Num)
		}
		return nums
	}
	for _, name := range []string{"span none", "span one", "span two", "span text", "span four", "span floats"} {
		if found := r.of(name); len(found) != rounds || found[0].kind != rawformat.KindInterval {
			t.Fatalf("%s: %d found, want %d", name, len(found), rounds)
		}
	}
	for _, i := range []int{0, 1, 77, rounds - 1} {
		if a := args("span one", i); math.Float64frombits(a[0]) != float64(i)/3 {
			t.Errorf("one %d: %x", i, a)
		}
		if a := args("span two", i); int64(a[0]) != int64(-i*i*i) || a[1] != math.MaxUint64-uint64(i) {
			t.Errorf("two %d: %x", i, a)
		}
		if a := args("span text", i); a[0] != uint64(i) {
			t.Errorf("text %d: %x", i, a)
		}
		if a := args("span four", i); a[0] != uint64(i) || a[2] != 3 || int64(a[3]) != int64(-i) {
			t.Errorf("four %d: %x", i, a)
		}
		if a := args("span floats", i); math.Float64frombits(a[1]) != float64(i) {
			t.Errorf("floats %d: %x", i, a)
		}
	}
}

// A marker carries its goroutine, whichever path it takes and whichever goroutine used the
// writer before. If the number can't be found, no marker does, and meta says so.
func TestMarkersTellGoroutine(t *testing.T) {
	const goroutines, rounds = 20, 200
	_, work := recorder.NewTrack(t.Context(), "goroutine test")
	defer work.End()
	rec := begin(t, recorder.Options{})
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			id := int64(goroutineNumber())
			for range rounds {
				one.Mark(id)
				one.On(work.Track).Mark(id)
				one.Begin(id).End()
				runtime.Gosched()
			}
		})
	}
	all.Wait()
	r := finish(t, rec)
	found := r.of("one")
	if len(found) != 3*goroutines*rounds {
		t.Fatalf("%d markers, want %d", len(found), 3*goroutines*rounds)
	}
	known := r.meta("self-test.goroutines") == "by their numbers"
	if !known && strings.HasSuffix(r.meta("self-test.writers"), "shared") {
		t.Error("other tricks work, but goroutines are not known")
	}
	for _, e := range found {
		want := uint64(0)
		if known {
			want = e.args[0].Num
		}
		if e.by != want {
			t.Fatalf("marker of goroutine %d, want %d", e.by, want)
		}
	}
}

// goroutineNumber is the number of the calling goroutine.
func goroutineNumber() uint64 {
	var b [64]byte
	n, _ := strconv.ParseUint(strings.Fields(string(b[:runtime.Stack(b[:], false)]))[1], 10, 64)
	return n
}
