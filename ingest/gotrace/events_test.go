package gotrace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/exp/trace"

	"gprof/ingest/internal/damage"
)

// eventText is all that matters of an event.
func eventText(ev *event, stack, context string) string {
	line := fmt.Sprintf("%d at %d on %d %d %d", ev.kind, ev.time, ev.goroutine, ev.processor, ev.thread)
	switch ev.kind {
	case kindNothing, kindExperiment:
		return line
	case kindGeneration:
		if ev.anchor != nil {
			line += fmt.Sprintf(" %+v", *ev.anchor)
		}
		return line
	}
	return fmt.Sprintf("%s: %d %d %d>%d %q %q %d %d %d\n%s\n%s", line, ev.scope, ev.id, ev.old, ev.new, ev.name, ev.text, ev.task, ev.parent, ev.values, stack, context)
}

// ourEvents are the events of a generation as [events] gives them.
func ourEvents(data []byte, version int, g *generation) (all []string, err error) {
	e, err := newEvents(bytes.NewReader(data), version, g, func(int64) error { return nil })
	if err != nil {
		return nil, err
	}
	known := map[stackRef]string{}
	text := func(ref stackRef) string {
		if _, ok := known[ref]; !ok {
			calls, ok := e.tables.appendCalls(nil, ref)
			if known[ref] = fmt.Sprint(calls); !ok {
				known[ref] = "unreadable"
			}
		}
		return known[ref]
	}
	for ev := (event{}); ; {
		if err := e.next(&ev); err == io.EOF {
			return all, nil
		} else if err != nil {
			return all, err
		}
		all = append(all, eventText(&ev, text(ev.stack), text(ev.context)))
	}
}

// panicked is a panic of golang.org/x/exp/trace, which does not check everything that it reads.
type panicked struct{ any }

func (p panicked) Error() string { return fmt.Sprint(p.any) }

// theirEvents are the same by golang.org/x/exp/trace, without the event that ends a trace.
func theirEvents(data []byte, version int, g *generation) (all []string, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = panicked{r}
		}
	}()
	file := append(fmt.Appendf(nil, "go 1.%d trace\x00\x00\x00", version), data[g.from:g.to]...)
	r, err := trace.NewReader(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	known := map[trace.Stack]string{}
	for syncs := 0; ; {
		e, err := r.ReadEvent()
		switch {
		case err == io.EOF && syncs == 2:
			return all[:len(all)-1], nil
		case err != nil:
			return all, err
		}
		ev := theirs(&e)
		if ev.kind == kindGeneration {
			syncs++
		}
		if ev.time > maxTime {
			return all, errors.New("an event at no time")
		}
		own := trace.NoStack
		if e.Kind() == trace.EventStateTransition {
			own = e.StateTransition().Stack
		}
		context := e.Stack()
		if e.Kind() == trace.EventMetric || e.Kind() == trace.EventLabel {
			context = trace.NoStack
		}
		all = append(all, eventText(&ev, stackText(known, own), stackText(known, context)))
	}
}

func stackText(known map[trace.Stack]string, s trace.Stack) (text string) {
	if text, ok := known[s]; ok {
		return text
	}
	defer func() {
		if recover() != nil {
			known[s], text = "unreadable", "unreadable"
		}
	}()
	var calls []call
	for f := range s.Frames() {
		calls = append(calls, call{f.Func, f.File, f.Line})
	}
	known[s] = fmt.Sprint(calls)
	return known[s]
}

// theirs is an event of golang.org/x/exp/trace, without its stacks.
func theirs(e *trace.Event) event {
	ev := event{time: int64(e.Time()), goroutine: int64(e.Goroutine()), processor: int64(e.Proc()), thread: int64(e.Thread()), id: none}
	switch e.Kind() {
	case trace.EventSync:
		ev.kind = kindGeneration
		if c := e.Sync().ClockSnapshot; c != nil {
			ev.anchor = &Anchor{int64(c.Trace), c.Mono, c.Wall.UnixNano()}
		}
	case trace.EventMetric:
		ev.kind, ev.name, ev.values[0] = kindMetric, e.Metric().Name, e.Metric().Value.Uint64()
	case trace.EventLabel:
		ev.kind, ev.name = kindLabel, e.Label().Label
	case trace.EventStackSample:
		ev.kind, ev.id = kindSample, 0
	case trace.EventRangeBegin:
		ev.theirRange(kindRangeBegin, e)
	case trace.EventRangeActive:
		ev.theirRange(kindRangeActive, e)
	case trace.EventRangeEnd:
		ev.theirRange(kindRangeEnd, e)
		for i, a := range e.RangeAttributes() {
			ev.values[i] = a.Value.Uint64()
		}
	case trace.EventTaskBegin, trace.EventTaskEnd:
		t := e.Task()
		ev.kind, ev.name, ev.task, ev.parent = kindTaskBegin, t.Type, uint64(t.ID), uint64(t.Parent)
		if e.Kind() == trace.EventTaskEnd {
			ev.kind = kindTaskEnd
		}
	case trace.EventRegionBegin, trace.EventRegionEnd:
		r := e.Region()
		ev.kind, ev.name, ev.task = kindRegionBegin, r.Type, uint64(r.Task)
		if e.Kind() == trace.EventRegionEnd {
			ev.kind = kindRegionEnd
		}
	case trace.EventLog:
		l := e.Log()
		ev.kind, ev.name, ev.text, ev.task = kindLog, l.Category, l.Message, uint64(l.Task)
	case trace.EventStateTransition:
		ev.theirTransition(e.StateTransition())
	case trace.EventExperimental:
		ev.kind = kindExperiment
	}
	return ev
}

func (ev *event) theirRange(k kind, e *trace.Event) {
	r := e.Range()
	ev.kind, ev.name = k, r.Name
	switch r.Scope.Kind {
	case trace.ResourceGoroutine:
		ev.scope, ev.id = ofGoroutine, int64(r.Scope.Goroutine())
	case trace.ResourceProc:
		ev.scope, ev.id = ofProcessor, int64(r.Scope.Proc())
	}
}

func (ev *event) theirTransition(t trace.StateTransition) {
	if t.Resource.Kind != trace.ResourceGoroutine {
		return
	}
	states := map[trace.GoState]state{trace.GoNotExist: notThere, trace.GoRunnable: runnable, trace.GoRunning: running, trace.GoWaiting: waiting, trace.GoSyscall: calling}
	from, to := t.Goroutine()
	ev.kind, ev.id, ev.old, ev.new, ev.name = kindGoroutine, int64(t.Resource.Goroutine()), states[from], states[to], t.Reason
}

// sameEvents compares what is read of all generations of a file, and returns how many events that are. Damage ends
// a generation at the same event.
func sameEvents(t *testing.T, what string, data []byte) (n int) {
	t.Helper()
	f, _ := Open(inMemory(data))
	if f == nil {
		return 0
	}
	for i := range f.all {
		g := &f.all[i]
		want, wrong := theirEvents(data, f.version, g)
		got, err := ourEvents(data, f.version, g)
		if err != nil && !errors.Is(err, damage.ErrDamaged) && !errors.Is(err, damage.ErrTorn) {
			t.Errorf("%s, generation %d: the error is %v", what, i, err)
		}
		if endsEarly(data, f.version, g) {
			continue // in a batch of events, which they take for the end of the generation
		}
		if wrong != nil && len(got) == 0 && len(want) == 1 {
			want = nil // a generation begins there even if its tables can't be read
		}
		if errors.As(wrong, new(panicked)) {
			got = got[:min(len(got), len(want))]
		} else if (err != nil) != (wrong != nil) {
			t.Errorf("%s, generation %d: the error is %v, want %v", what, i, err, wrong)
		}
		for k := range max(len(got), len(want)) {
			if k >= len(got) || k >= len(want) || got[k] != want[k] {
				t.Errorf("%s, generation %d, event %d of %d:\n%s\nwant (of %d):\n%s\nerrors: %v, %v", what, i, k, len(got), at(got, k), len(want), at(want, k), err, wrong)
				break
			}
		}
		n += len(want)
	}
	return n
}

func at(all []string, i int) string {
	if i >= len(all) {
		return "none"
	}
	return all[i]
}

// endsEarly reports whether a batch begins with the byte that ends a generation.
func endsEarly(data []byte, version int, g *generation) bool {
	s := scan{r: bytes.NewReader(data), version: version}
	for off := g.from; off < g.to; {
		b, err := s.batch(off)
		if err != nil || b.first == kindEnd && !b.experiment {
			return true
		}
		off += b.head + b.size
	}
	return false
}

// eventNames are those of the format's text twin, by number.
var eventNames = strings.Fields(`None EventBatch Stacks Stack Strings String CPUSamples CPUSample Frequency
	ProcsChange ProcStart ProcStop ProcSteal ProcStatus GoCreate GoCreateSyscall GoStart GoDestroy GoDestroySyscall
	GoStop GoBlock GoUnblock GoSyscallBegin GoSyscallEnd GoSyscallEndBlocked GoStatus STWBegin STWEnd GCActive GCBegin
	GCEnd GCSweepActive GCSweepBegin GCSweepEnd GCMarkAssistActive GCMarkAssistBegin GCMarkAssistEnd HeapAlloc HeapGoal
	GoLabel UserTaskBegin UserTaskEnd UserRegionBegin UserRegionEnd UserLog GoSwitch GoSwitchDestroy GoCreateBlocked
	GoStatusStack ExperimentalBatch Sync ClockSnapshot EndOfGeneration`)

// ofText is a trace in the text that Go's own tests have.
func ofText(t *testing.T, text string) (data []byte) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if version, ok := strings.CutPrefix(line, "Trace Go1."); ok {
			data = fmt.Appendf(nil, "go 1.%s trace\x00\x00\x00", version)
			continue
		}
		if quoted, ok := strings.CutPrefix(line, "data="); ok {
			s, err := strconv.Unquote(quoted)
			if err != nil {
				t.Fatal(err)
			}
			data = append(binary.AppendUvarint(data, uint64(len(s))), s...)
			continue
		}
		words := strings.Fields(line)
		if i := slices.Index(eventNames, words[0]); i >= 0 {
			data, words = append(data, byte(i)), words[1:]
		}
		for _, w := range words {
			_, value, ok := strings.Cut(w, "=")
			n, err := strconv.ParseUint(value, 10, 64)
			if err != nil || !ok {
				t.Fatalf("%s: %v", line, err)
			}
			data = binary.AppendUvarint(data, n)
		}
	}
	return data
}

// testsOfGo are the traces that Go's own reader is tested with: of what is hard to put in order.
func testsOfGo(t *testing.T) map[string][]byte {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(root)), "src/internal/trace/testdata/tests/*.test"))
	if err != nil || len(files) == 0 {
		t.Fatalf("Go has no traces to test its own reader with: %v", err)
	}
	all := map[string][]byte{}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		_, text, _ = bytes.Cut(text, []byte("-- trace --\n"))
		all[filepath.Base(name)] = ofText(t, string(text))
	}
	return all
}

// TestEvents compares all events of traces with those that golang.org/x/exp/trace reads.
func TestEvents(t *testing.T) {
	if n := sameEvents(t, "recorded", record(t)); n < 10_000 {
		t.Errorf("%d events were recorded", n)
	}
	for _, version := range versions {
		sameEvents(t, fmt.Sprint("drawn ", version), drawTrace(version, 3))
	}
	for name, data := range testsOfGo(t) {
		if sameEvents(t, name, data) == 0 && !strings.Contains(name, "fail") {
			t.Errorf("%s has no events", name)
		}
	}
}

// TestEventsDamaged does it with traces of which some bytes are others.
func TestEventsDamaged(t *testing.T) {
	all := testsOfGo(t)
	for _, version := range versions {
		all[fmt.Sprint("drawn ", version)] = drawTrace(version, 2)
	}
	rounds := 300
	if testing.Short() {
		rounds = 30
	}
	random := rand.New(rand.NewPCG(1, 2))
	for name, data := range all {
		for round := range max(rounds*1000/(1000+len(data)), 20) {
			damaged := slices.Clone(data)
			for range 1 + random.IntN(3) {
				i := headerSize + random.IntN(len(data)-headerSize)
				switch random.IntN(3) {
				case 0:
					damaged[i] = byte(random.Uint32())
				case 1:
					damaged[i]++
				case 2:
					damaged[i] = damaged[headerSize+random.IntN(len(data)-headerSize)]
				}
			}
			sameEvents(t, fmt.Sprintf("%s, round %d", name, round), damaged)
			if t.Failed() {
				return
			}
		}
	}
}

// TestEventsRandom does it with events of a few threads that are drawn by lot, so that some of them can follow each
// other.
func TestEventsRandom(t *testing.T) {
	rounds := 40_000
	if testing.Short() {
		rounds = 2000
	}
	random := rand.New(rand.NewPCG(3, 4))
	for round := range rounds {
		d := draw(versions[round%len(versions)])
		for thread := range uint64(3) {
			d.more = append(d.more, randomEvents(random, thread))
		}
		d.generation(1, 1_000_000_000)
		sameEvents(t, fmt.Sprint("round ", round), d.out)
		if t.Failed() {
			return
		}
	}
}

// randomEvents are those of one thread. The first say what it has; numbers go up as if it alone counted them.
func randomEvents(random *rand.Rand, thread uint64) (b []byte) {
	const ids, none = 3, none64
	ev := func(kind byte, args ...uint64) {
		b = numbers(numbers(append(b, kind), uint64(random.IntN(3000))), args...)
	}
	id := func() uint64 { return uint64(random.IntN(ids)) + 10*uint64(random.IntN(10)/9) }
	if random.IntN(8) > 0 {
		ev(evProcStatus, thread+1, uint64(1+random.IntN(4)))
	}
	if random.IntN(8) > 0 {
		ev(evGoStatus, thread+50, []uint64{thread, none}[random.IntN(2)], uint64(1+random.IntN(4)))
	}
	count := [2]uint64{}
	for range random.IntN(12) {
		kind := byte(evProcsChange + random.IntN(evGoStatusStack-evProcsChange+1))
		args := make([]uint64, rules[kind].arguments)
		for i := range args {
			args[i] = id()
		}
		switch kind {
		case evProcStart, evProcSteal, evProcStatus:
			args[0] = 1 + uint64(random.IntN(ids))
		case evGoStart, evGoUnblock, evGoSwitch, evGoSwitchDestroy, evGoStatus, evGoStatusStack, evAssistActive, evGoCreate, evGoCreateBlocked, evGoCreateSyscall:
			args[0] = 50 + uint64(random.IntN(ids))
		}
		switch kind {
		case evProcStatus:
			args[1] = uint64(1 + random.IntN(4))
		case evGoStatus, evGoStatusStack:
			args[1], args[2] = uint64(random.IntN(3)), uint64(1+random.IntN(4))
		}
		if kind == evSyscallBegin {
			count[0]++
			args[0] = count[0]
		} else if i := slices.Index([]byte{evProcStart, evProcSteal, evGoStart, evGoUnblock, evGoSwitch, evGoSwitchDestroy}, kind); i >= 0 {
			args[1] = 1 + uint64(random.IntN(2))
		}
		ev(kind, args...)
	}
	return b
}

// TestEventsInVain has many threads wait for a goroutine that never is, while another one goes on. Each of its events
// would be looked for among all.
func TestEventsInVain(t *testing.T) {
	d := draw(26)
	start := numbers([]byte{evGoStart}, 0, 9, 1)
	for range 20_000 {
		d.more = append(d.more, start)
	}
	d.more = append(d.more, slices.Concat(numbers([]byte{evProcStatus}, 0, 0, 1), bytes.Repeat([]byte{evHeapAlloc, 1, 1}, maxBatch/3-2)))
	d.generation(1, 1_000_000_000)
	f, err := Open(inMemory(d.out))
	if err != nil {
		t.Fatal(err)
	}
	got, err := ourEvents(d.out, f.version, &f.all[0])
	if !errors.Is(err, damage.ErrDamaged) || len(got) > 2000 || len(got) < 100 {
		t.Errorf("%d events, %v", len(got), err)
	}
}

// FuzzEvents does it with any file at all.
func FuzzEvents(f *testing.F) {
	for _, version := range versions {
		f.Add(drawTrace(version, 2))
	}
	f.Fuzz(func(t *testing.T, data []byte) { sameEvents(t, "fuzzed", data) })
}
