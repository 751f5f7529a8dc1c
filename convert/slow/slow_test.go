package slow_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gprof/convert/slow"
	"gprof/fixtures/judges"
	"gprof/stream"
	"gprof/stream/filter"
	"gprof/stream/redact"
	"gprof/stream/streamtest"
)

var screenshots = flag.String("screenshots", "", "directory to write screenshots to")

const ms = 1_000_000

// world is a recording of requests.
type world struct {
	*streamtest.Builder
	p                     *streamtest.Process
	track                 *streamtest.Track
	request, state, wakes stream.EventID
}

func newWorld() *world {
	w := &world{Builder: streamtest.NewBuilder()}
	w.p = w.Process(stream.Process{Instance: 1, Name: "shop", Interval: ms, End: 1000_000 * ms})
	w.track = w.p.Track("t")
	w.request = w.Event(stream.Event{Name: "request", Fields: []stream.EventField{{Name: "route", Type: stream.Text}, {Name: "items", Type: stream.Int}}})
	w.state = w.Event(stream.Event{Name: "goroutine state", Fields: []stream.EventField{{Name: "state", Type: stream.Text}}})
	w.wakes = w.Event(stream.Event{Name: "goroutine wake-up", Fields: []stream.EventField{{Name: "by", Type: stream.Uint}}})
	return w
}

func (w *world) marker(e stream.EventID, g int64, phase stream.Phase, at, duration int64, stack stream.StackID, args ...any) {
	w.track.Add(streamtest.Row{Series: stream.Series{Kind: stream.Markers, Event: e}, Time: stream.Time(at), Phase: phase, Duration: duration, Stack: stack, Args: args, Owner: stream.Owner{Goroutine: g}})
}

func (w *world) interval(g, at, duration int64, route string, items int64) {
	w.marker(w.request, g, stream.Interval, at, duration, 0, route, items)
}

// states adds states of a goroutine, one after the other.
func (w *world) states(g, at int64, all ...any) {
	for i := 0; i < len(all); i += 2 {
		name, ns := all[i].(string), int64(all[i+1].(int))
		stack := stream.StackID(0)
		if reason, ok := strings.CutPrefix(name, "waiting: "); ok {
			name = "waiting"
			stack = w.waiting(reason, "main.handle", "main.get", "sync.(*Mutex).Lock")
		}
		w.marker(w.state, g, stream.Interval, at, ns, stack, name)
		at += ns
	}
}

func (w *world) waiting(reason string, functions ...string) stream.StackID {
	return w.Tables.Stacks.Intern(w.Stack(functions...), w.Tables.Frames.Intern(stream.Frame{Label: true, Function: w.Tables.Strings.Intern("waiting: " + reason)}))
}

// report is what slow makes of it.
func report(t *testing.T, src stream.Source, query string) *slow.Report {
	t.Helper()
	r, err := try(t, src, query)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func try(t *testing.T, src stream.Source, query string) (*slow.Report, error) {
	t.Helper()
	q, err := slow.Default(query)
	if err != nil {
		t.Fatal(err)
	}
	s := slow.New(slow.Options{Query: q, SpillDir: t.TempDir()})
	if err := stream.Copy(s, src, stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	return &s.Report, s.Nothing
}

// split is the exact and the estimated time of a group by parts.
func split(r *slow.Report, of func(slow.Part) slow.Amount) string {
	var all []string
	for _, p := range r.Split {
		if a := of(p); a.Exact > 0 {
			all = append(all, fmt.Sprintf("%s %d", p.Name, a.Exact))
		} else if a.Estimated > 0 {
			all = append(all, fmt.Sprintf("%s ~%d±%d", p.Name, a.Estimated, a.Error))
		}
	}
	return strings.Join(all, ", ")
}

func slowOf(p slow.Part) slow.Amount { return p.Slow }

// An interval's time is that of its goroutine's states, cut to it; who ended a wait is told.
func TestExact(t *testing.T) {
	w := newWorld()
	w.states(1, 0, "running", 100, "waiting: sync", 50, "runnable", 7, "gc assist", 3, "waiting: network", 20, "system call", 30, "waiting: sleep", 11, "stop the world", 2, "running", 100)
	w.marker(w.wakes, 1, stream.Instant, 150, 0, w.Stack("main.reload", "sync.(*Mutex).Unlock"), uint64(9))
	w.states(2, 0, "running", 1000, "waiting: sync", 50)
	w.interval(1, 90, 213, "a", 1)
	w.interval(2, 200, 10, "a", 1)
	r := report(t, w.Source(), "request[duration>100]")
	if got, want := split(r, slowOf), "CPU 90, waiting for a processor 7, garbage collector 5, locks 50, network 20, system calls 30, sleep, channels, others 11"; got != want {
		t.Errorf("slow: %s\nwant  %s", got, want)
	}
	if got := split(r, func(p slow.Part) slow.Amount { return p.Rest }); got != "CPU 10" {
		t.Errorf("rest: %s", got)
	}
	if r.Slow.Exact != 213 || r.Slow.Wall != 213 || len(r.Notes) != 1 {
		t.Errorf("%+v, notes %q", r.Slow, r.Notes)
	}
	first := r.More[0]
	if first.Part != "locks" || !strings.Contains(first.Place, "main.get") || len(first.By) != 1 || first.By[0].Time != 50 || !strings.Contains(first.By[0].Place, "main.reload") {
		t.Errorf("most in addition is %+v", first)
	}
}

// Each interval has a row, with its own split.
func TestRows(t *testing.T) {
	w := newWorld()
	w.states(1, 0, "running", 60, "waiting: network", 40)
	w.interval(1, 0, 120, "a", 1)
	w.interval(0, 5, 7, "a", 1)
	q, err := filter.ParseQuery("request[duration>10]")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := stream.Copy(slow.New(slow.Options{Query: q, Rows: &out, SpillDir: t.TempDir()}), w.Source(), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	_, got, _ := strings.Cut(out.String(), "\n")
	if want := "request,0000000000000001,0,5,7,rest,,0,0,0,0,0,0,0,7,0,0\nrequest,0000000000000001,1,0,120,slow,,60,0,0,0,40,0,0,20,100,0\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// What no trace covers is estimated from samples and looks at waits, where their goroutine is known; the rest is unknown.
func TestEstimates(t *testing.T) {
	w := newWorld()
	w.interval(1, 0, 100*ms, "a", 1)
	w.interval(1, 200*ms, ms, "a", 1)
	for i := range int64(20) {
		w.track.Add(streamtest.Row{Series: stream.Series{Kind: stream.Samples}, Time: stream.Time(i * ms), Stack: w.Stack("main.work"), Weight: 1, CPU: ms, Owner: stream.Owner{Goroutine: 1 + i%2}})
	}
	wait := func(at, value int64, g int64) {
		w.track.Add(streamtest.Row{Series: stream.Series{Kind: stream.Waits}, Time: stream.Time(at), Stack: w.waiting("network", "main.ask"), Value: value, Number: 1, Owner: stream.Owner{Goroutine: g}})
	}
	wait(60*ms, 40*ms, 1)
	wait(205*ms, 10*ms, 1) // outside
	wait(60*ms, 40*ms, 0)
	r := report(t, w.Source(), "request[duration>10ms]")
	if got, want := split(r, slowOf), "CPU ~10000000±6324555, network ~40000000±20000000, unknown 50000000"; got != want {
		t.Errorf("slow: %s\nwant  %s", got, want)
	}
	if !slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "no execution trace") }) {
		t.Errorf("notes %q", r.Notes)
	}
}

// Where much is unknown, a busy machine is told of; a program that is known well, or alone, needs no such note.
func TestPressure(t *testing.T) {
	for _, x := range []struct {
		name           string
		waited, unseen int64 // of 100 ms
		want           string
	}{
		{"busy", 85, 50, "for 85 %"},
		{"idle", 5, 50, ""},
		{"known", 85, 0, ""},
		{"set back", -85, 50, ""},
	} {
		w := newWorld()
		w.interval(1, 0, 100*ms, "a", 1)
		w.interval(1, 200*ms, ms, "a", 1)
		w.states(1, 0, "running", int(100-x.unseen)*ms)
		pressure := w.p.Counter(stream.Counter{Name: "CPU pressure", Unit: stream.FormatNanoseconds, Total: true})
		for i := range int64(11) {
			w.p.Count(stream.Time(i*10*ms), pressure, 1000*ms+i*x.waited*ms/10, 0)
		}
		r := report(t, w.Source(), "request[duration>10ms]")
		got := ""
		for _, n := range r.Notes {
			if strings.Contains(n, "waited for a processor") {
				got = n
			}
		}
		if !strings.Contains(got, x.want) || x.want == "" && got != "" {
			t.Errorf("%s: notes %q", x.name, r.Notes)
		}
	}
}

// Where redaction hides why a goroutine waits, as it hides all labels of stacks, traces tell it nevertheless; of rounds it is
// unknown, not something else.
func TestRedacted(t *testing.T) {
	w := newWorld()
	w.state = w.Event(stream.Event{Name: "goroutine state", Fields: []stream.EventField{{Name: "state", Type: stream.Text}, {Name: "reason", Type: stream.Text}}})
	stack := w.waiting("sync", "main.get")
	w.marker(w.state, 1, stream.Interval, 0, 60, stack, "waiting", "sync")
	w.interval(1, 0, 100, "a", 1)
	w.interval(1, 200, 1, "a", 1)
	w.track.Add(streamtest.Row{Series: stream.Series{Kind: stream.Waits}, Time: 80, Stack: stack, Value: 20, Number: 1, Owner: stream.Owner{Goroutine: 1}})
	src := redact.New(redact.Options{Secrets: redact.Drop, URLs: redact.Drop, Names: redact.Hash, Key: make([]byte, 32)}).Source(w.Source())
	if got := split(report(t, src, "request[duration>10]"), slowOf); got != "locks 60, unknown 40" {
		t.Errorf("slow: %s", got)
	}
}

// Where a trace covers a part of an interval, samples say nothing of the time there.
func TestPartlyExact(t *testing.T) {
	w := newWorld()
	w.interval(1, 0, 100, "a", 1)
	w.interval(1, 200, 1, "a", 1)
	w.states(1, 50, "running", 50)
	for _, at := range []stream.Time{10, 60} {
		w.track.Add(streamtest.Row{Series: stream.Series{Kind: stream.Samples}, Time: at, Stack: w.Stack("main.work"), Weight: 1, CPU: 20, Owner: stream.Owner{Goroutine: 1}})
	}
	r := report(t, w.Source(), "request[duration>10]")
	if a := r.Split[slow.CPU].Slow; a.Exact != 50 || a.Estimated != 20 || r.Split[slow.Unknown].Slow.Exact != 30 {
		t.Errorf("%+v, unknown %+v", a, r.Split[slow.Unknown].Slow)
	}
}

// Few samples can stand for more CPU time than the intervals lasted: no more than that is estimated, and a note says so.
func TestFewSamples(t *testing.T) {
	w := newWorld()
	w.interval(1, 0, 100, "a", 1)
	w.interval(1, 200, 1, "a", 1)
	for _, at := range []stream.Time{10, 60} {
		w.track.Add(streamtest.Row{Series: stream.Series{Kind: stream.Samples}, Time: at, Stack: w.Stack("main.work"), Weight: 1, CPU: 150, Owner: stream.Owner{Goroutine: 1}})
	}
	r := report(t, w.Source(), "request[duration>10]")
	if a := r.Split[slow.CPU].Slow; a.Estimated != 100 || a.Error != 100 || a.Share != 1 || r.Slow.Estimated != 100 || r.More[0].Slow != 100 || r.More[0].SlowShare != 1 {
		t.Errorf("%+v of %+v; %+v", a, r.Slow, r.More)
	}
	if notes := strings.Join(r.Notes, "; "); !strings.Contains(notes, "too few CPU samples") {
		t.Error(notes)
	}
}

// The percentile is the nearest rank of the intervals that fulfil the other conditions, by name.
func TestPercentiles(t *testing.T) {
	for _, c := range []struct {
		query     string
		threshold int64
		slow      int64
	}{
		{"request", 198, 2}, {"request[duration>p50]", 100, 100}, {"request[duration>=p100]", 200, 1}, {"request[duration>p99.5]", 199, 1},
		{"request[duration>p90, route=b]", 180, 10}, {"request[duration<=p7]", 14, 14}, {"request[route=b]", -1, 100},
	} {
		w := newWorld()
		for i := range int64(200) {
			w.interval(1+i%3, i*1000, i+1, string(rune('a'+i%2)), i)
		}
		r := report(t, w.Shuffled(7), c.query)
		if n := r.Names[0]; n.Intervals != 200 || n.Slow != c.slow || n.Threshold != c.threshold || r.Slow.Intervals != c.slow || r.Rest.Intervals != 200-c.slow {
			t.Errorf("%s: %+v, %d slow, %d others", c.query, n, r.Slow.Intervals, r.Rest.Intervals)
		}
	}
}

// What there is nothing to say about is an error that says why.
func TestNothing(t *testing.T) {
	for _, c := range []struct {
		query string
		want  error
		text  string
		add   func(*world)
	}{
		{"nosuch", filter.ErrNoMatch, "there are:\n  request", func(w *world) { w.interval(1, 0, 1, "a", 1) }},
		{"request", slow.ErrNothing, "of so few", func(w *world) { w.interval(1, 0, 5, "a", 1) }},
		{"request[duration>1s]", slow.ErrNothing, "of 1 intervals none", func(w *world) { w.interval(1, 0, 5, "a", 1) }},
		{"request", slow.ErrNothing, "no duration", func(w *world) { w.marker(w.request, 1, stream.Instant, 5, 0, 0, "a", int64(1)) }},
		{"request", filter.ErrNoMatch, "none at all", func(*world) {}},
		{"nosuch", filter.ErrNoMatch, "there are:\n  command\n  get", func(w *world) { // whose markers have names of their own
			w.marker(w.Event(stream.Event{Name: "command", NameField: "name", Fields: []stream.EventField{{Name: "name", Type: stream.Text}}}), 1, stream.Interval, 5, 1, 0, "get")
		}},
	} {
		w := newWorld()
		w.track.Sample(1, w.Stack("main.main"))
		c.add(w)
		if _, err := try(t, w.Source(), c.query); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v, want %q", c.query, err, c.text)
		}
	}
}

// Starts and ends are intervals, of the goroutine of the start; a start alone is still running.
func TestHalves(t *testing.T) {
	w := newWorld()
	w.marker(w.request, 1, stream.PhaseStart, 100, 0, 0, "a", int64(1))
	w.marker(w.request, 2, stream.PhaseStart, 110, 0, 0, "a", int64(1))
	w.marker(w.request, 3, stream.PhaseEnd, 150, 0, 0, "a", int64(1)) // of 2, which has no end of its own
	w.marker(w.request, 1, stream.PhaseEnd, 400, 0, 0, "a", int64(1))
	w.marker(w.request, 4, stream.PhaseStart, 1000_000*ms-5, 0, 0, "b", int64(1))
	w.marker(w.request, 5, stream.PhaseEnd, 10, 0, 0, "b", int64(1)) // its start is gone
	w.states(1, 0, "running", 500)
	w.states(2, 0, "waiting: sync", 500)
	w.states(4, 1000_000*ms-100, "waiting: network", 100)
	r := report(t, w.Source(), "request[duration>=300]")
	if r.Slow.Intervals != 1 || r.Slow.Wall != 300 || r.Rest.Intervals != 1 || r.Rest.Wall != 40 || r.Open.Intervals != 1 || r.Open.Wall != 5 || r.Names[0].Open != 1 {
		t.Errorf("slow %+v, rest %+v, open %+v", r.Slow, r.Rest, r.Open)
	}
	if got := split(r, func(p slow.Part) slow.Amount { return p.Open }); got != "network 5" {
		t.Errorf("still running: %s", got)
	}
	if got := split(r, func(p slow.Part) slow.Amount { return p.Rest }); got != "locks 40" {
		t.Errorf("rest: %s", got)
	}
	if !slices.ContainsFunc(r.Notes, func(n string) bool { return strings.HasPrefix(n, "1 ends") }) {
		t.Errorf("notes %q", r.Notes)
	}
	only := newWorld()
	only.marker(only.request, 1, stream.PhaseStart, 100, 0, 0, "a", int64(1))
	r = report(t, only.Source(), "request")
	if r.Slow.Intervals != 0 || r.Open.Intervals != 1 {
		t.Errorf("only a start: %+v, %+v", r.Slow, r.Open)
	}
}

// busy is a recording in which requests for one route wait for a lock, one in fifty.
func busy(seed uint64) *world {
	w := newWorld()
	random := rand.New(rand.NewPCG(seed, 0))
	for i := range int64(2000) {
		g, at, route := 1+i%7, i*100*ms, "/list"
		cpu, lock := ms+random.Int64N(ms/10), random.Int64N(ms/100)+1
		if i%50 == 0 {
			route, lock = "/export", 40*ms+random.Int64N(ms)
		}
		w.states(g, at, "running", int(cpu), "waiting: sync", int(lock), "running", 10)
		w.interval(g, at, cpu+lock+10, route, i)
	}
	return w
}

// What slow ones have in common is found, and of what has nothing to do with it next to nothing. The order of
// rows doesn't matter.
func TestFound(t *testing.T) {
	var before string
	for order := range uint64(2) {
		r := report(t, busy(1).Shuffled(order), "request[duration>p98]")
		if r.Slow.Intervals != 40 || !r.Split[slow.Lock].Found || r.Split[slow.CPU].Found {
			t.Errorf("%d slow; %+v", r.Slow.Intervals, r.Split)
		}
		if len(r.More) != 1 || r.More[0].Part != "locks" || !r.More[0].Found || r.More[0].In != 40 {
			t.Errorf("more: %+v", r.More)
		}
		if x := r.Traits[0]; x.Name != "route" || x.Value != "/export" || x.Slow != 40 || x.Rest != 0 || !x.Found {
			t.Errorf("traits: %+v", r.Traits)
		}
		for _, x := range r.Traits[1:] {
			if x.Found {
				t.Errorf("found by chance: %+v", x)
			}
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if before != "" && string(text) != before {
			t.Errorf("another order gives another report:\n%s\n%s", before, text)
		}
		before = string(text)
		if len(r.Longest) != 10 || !slices.IsSortedFunc(r.Longest, func(a, b slow.Slow) int { return int(b.Took - a.Took) }) || !strings.HasPrefix(r.Longest[0].Most, "locks") {
			t.Errorf("longest: %+v", r.Longest)
		}
	}
}

// The page has all parts, loads nothing, and shows what recordings hold as text.
func TestPage(t *testing.T) {
	w := busy(2)
	w.interval(1, 5_000*100*ms, 90*ms, "<script>alert(1)</script>", 1)
	var out strings.Builder
	if err := report(t, w.Source(), "request[duration>p98]").WriteHTML(&out); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for _, want := range []string{"main.get", "/export", "waiting for a processor", "90ms", "default-src 'none'"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(text, "<script") || strings.Contains(text, "ZgotmplZ") || strings.Contains(text, "http:") || strings.Contains(text, "https:") {
		t.Errorf("the page loads or runs something:\n%s", text)
	}
}

// peak is the most memory in use, at some of the moments at which something is written.
type peak struct{ written, bytes int64 }

func (p *peak) Write(b []byte) (int, error) {
	const every = 1 << 20
	if p.written%every+int64(len(b)) >= every {
		p.look()
	}
	p.written += int64(len(b))
	return len(b), nil
}

func (p *peak) look() {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // a pool keeps what it holds through one
	runtime.ReadMemStats(&m)
	p.bytes = max(p.bytes, int64(m.HeapAlloc))
}

// Memory does not grow with the number of rows, neither while they come nor while they are compared.
func TestMemory(t *testing.T) {
	const segment = 8192
	held := func(segments int) int64 {
		w := newWorld()
		q, err := slow.Default("request[duration>=p99]")
		if err != nil {
			t.Fatal(err)
		}
		var most peak
		s := slow.New(slow.Options{Query: q, Rows: &most, SpillDir: t.TempDir()})
		if err := s.Begin(w.Tables); err != nil {
			t.Fatal(err)
		}
		stack := w.Stack("main.main", "main.work")
		for _, kind := range []stream.Series{{Kind: stream.Samples}, {Kind: stream.Markers, Event: w.request}, {Kind: stream.Markers, Event: w.state}} {
			kind.Process, kind.Track = w.p.ID, w.track.ID
			var b stream.Batch
			for n := range segments {
				b.Reset(kind, w.Tables.Args(kind))
				for i := range int64(segment) {
					at := int64(n)*segment + i
					r := streamtest.Row{Series: kind, Time: stream.Time(at * 1000), Stack: stack, Weight: 1, CPU: 100, Phase: stream.Interval, Duration: 100 + at%800, Owner: stream.Owner{Goroutine: 1 + at%100}}
					switch kind.Event {
					case w.request:
						r.Args = []any{"/list", at}
					case w.state:
						r.Args = []any{"runnable"}
					}
					streamtest.AppendRow(&b, r)
				}
				if err := s.Segment(&b); err != nil {
					t.Fatal(err)
				}
			}
		}
		most.look()
		if err := s.Close(); err != nil || s.Nothing != nil {
			t.Fatal(err, s.Nothing)
		}
		if n := s.Report.Slow.Intervals + s.Report.Rest.Intervals; n != int64(segments*segment) || most.written < n*50 {
			t.Fatalf("%d requests, %d bytes of rows", n, most.written)
		}
		return most.bytes
	}
	const few, many = 16, 64
	held(few)
	small, large := held(few), held(many)
	if grown := large - small; grown > 3*(many-few)*segment {
		t.Errorf("%d rows hold %d bytes, %d rows %d: more than a byte for each", 3*few*segment, small, 3*many*segment, large)
	}
}

// The page shows all of the report on each screen, in a browser that has nothing to complain of.
//
//	go test ./convert/slow -run Browser -screenshots DIR
func TestBrowser(t *testing.T) {
	b, err := judges.OpenBrowser(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	w := busy(3)
	const late = 500_000 * ms
	w.states(1, late, "waiting: sync", 80*ms, "running", 10*ms)
	w.marker(w.wakes, 1, stream.Instant, late+80*ms, 0, w.Stack("main.reload", "sync.(*Mutex).Unlock"), uint64(9))
	w.interval(1, late, 90*ms, strings.Repeat("/a/long/route", 40), 1)
	w.marker(w.request, 1, stream.PhaseStart, 2*late, 0, 0, "never ends", int64(1))
	r := report(t, w.Source(), "request[duration>p98]")
	file := filepath.Join(t.TempDir(), "slow.html")
	var page strings.Builder
	if err := errors.Join(r.WriteHTML(&page), os.WriteFile(file, []byte(page.String()), 0o600)); err != nil {
		t.Fatal(err)
	}
	for name, screen := range map[string]judges.Screen{"desktop": {Width: 1400, Height: 1600, Dark: true}, "phone": {Width: 390, Height: 1600, Touch: true}} {
		if err := b.Show("file://"+file, screen); err != nil {
			t.Fatal(err)
		}
		var got struct {
			Fits   bool      // in the width of the screen; tables that don't can be moved
			Ended  bool      // it is told by whom
			Tables []int     // rows of each
			Bars   []float64 // of the slow ones' first bar: shares of its width
		}
		if err := b.Eval(&got, `({
			Fits: document.documentElement.scrollWidth <= innerWidth && [...document.querySelectorAll(".scroll")].every((s) => s.scrollWidth <= s.clientWidth || innerWidth < 600),
			Ended: document.querySelector(".by").innerText.includes("main.reload"),
			Tables: [...document.querySelectorAll("tbody")].map((t) => t.rows.length),
			Bars: [...document.querySelector(".bar").children].map((s) => s.offsetWidth / s.parentNode.clientWidth),
		})`); err != nil {
			t.Fatal(err)
		}
		if want := []int{len(r.Split), len(r.More), len(r.Traits), len(r.Longest)}; !got.Fits || !got.Ended || !slices.Equal(got.Tables, want) {
			t.Errorf("%s: %+v, want %d rows", name, got, want)
		}
		for i, share := range got.Bars {
			if math.Abs(share-r.Split[i].Slow.Share) > 0.01 {
				t.Errorf("%s: %s takes %.3f of the bar, and %.3f of the time", name, r.Split[i].Name, share, r.Split[i].Slow.Share)
			}
		}
		if *screenshots != "" {
			if png, err := b.Screenshot(); err != nil || os.WriteFile(filepath.Join(*screenshots, name+".png"), png, 0o666) != nil {
				t.Errorf("no screenshot: %v", err)
			}
		}
	}
	if problems := b.Problems(); len(problems) > 0 {
		t.Errorf("the browser complains:\n%s", strings.Join(problems, "\n"))
	}
}
