package gotrace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gprof/ingest/internal/damage"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// drawn is a trace that is written by hand.
type drawn struct {
	version int
	filled  int      // batches of events of the heap, which each generation has, too, each as large as can be
	texts   int      // batches of strings, likewise
	more    [][]byte // events of threads from 0 on, likewise, instead of those there are
	tail    []byte   // of the strings of a generation
	open    bool     // the events of a generation end before goroutine 1 goes on
	ofC     []byte   // events of thread 8 in each generation, which C code began
	out     []byte
}

func draw(version int) *drawn {
	d := &drawn{version: version}
	d.out = fmt.Appendf(nil, "go 1.%d trace\x00\x00\x00", version)
	return d
}

// batch adds a batch of a thread; at is the time that the first event counts
// from.
func (d *drawn) batch(generation, thread, at uint64, data []byte) {
	d.out = numbers(append(d.out, kindBatch), generation, thread, at, uint64(len(data)))
	d.out = append(d.out, data...)
}

func numbers(b []byte, all ...uint64) []byte {
	for _, n := range all {
		b = binary.AppendUvarint(b, n)
	}
	return b
}

// names are the strings of a generation, by number from 1.
var names = []string{"", "main.work", "/src/main.go", "main.main", "chan receive", "order", "take", "key", "value", "start trace", "preempted", "runtime.main"}

const none64 = ^uint64(0)

// generation adds one that begins at a time: 1,000 events a microsecond apart. In
// it goroutine 1 is waited for by a goroutine that it creates; a task, a region,
// a log, a system call, a stop of the world, a CPU sample and the heap are in it,
// too.
func (d *drawn) generation(n, at uint64) {
	sync := []byte{}
	if d.version >= version25 {
		sync = append(sync, kindSync)
	}
	sync = numbers(append(sync, kindFrequency), 1e9)
	if d.version >= version25 {
		sync = numbers(append(sync, kindSnapshot), 0, at+5_000_000_000, 1_700_000_000+at/1e9, at%1e9)
	}
	d.batch(n, none64, at, sync)
	if d.more == nil {
		d.batch(n, 7, at, d.events(n))
	}
	for thread, events := range d.more {
		d.batch(n, uint64(thread), at, events)
	}
	if d.ofC != nil {
		d.batch(n, 8, at, d.ofC)
	}
	d.batch(n, none64, at, d.strings())
	d.batch(n, none64, at, d.stacks())
	d.batch(n, none64, at, numbers([]byte{evCPUSamples, evCPUSample}, at+10_500, 7, 0, 1, 2))
	for i := range d.filled {
		d.batch(n, 7, at+100_000+uint64(i), bytes.Repeat([]byte{evHeapAlloc, 0, 1}, maxBatch/3))
	}
	for i := range d.texts {
		d.batch(n, none64, at, longTexts(i))
	}
	d.out = append(numbers(append(d.out, kindExperimental, 1), n, 7, at, 2), 1, 2)
	if d.version >= version26 {
		d.out = append(d.out, kindEnd)
	}
}

// longTexts are 64 KB of strings.
func longTexts(number int) []byte {
	b := []byte{evStrings}
	for i := range 64 {
		b = append(numbers(append(b, evString), uint64(1000+64*number+i), 1000), make([]byte, 1000)...)
	}
	return b
}

func (d *drawn) strings() []byte {
	b := []byte{evStrings}
	for id, s := range names[1:] {
		b = append(numbers(append(b, evString), uint64(id+1), uint64(len(s))), s...)
	}
	return append(b, d.tail...)
}

// stacks are 1: main.work, and 2: main.main under runtime.main.
func (d *drawn) stacks() []byte {
	b := numbers([]byte{evStacks, evStack}, 1, 1, 0x100, 1, 2, 10)
	return numbers(append(b, evStack), 2, 2, 0x200, 3, 2, 20, 0x300, 11, 2, 30)
}

// events of thread 7; each is 1,000 ns after the last.
func (d *drawn) events(n uint64) []byte {
	var b []byte
	ev := func(kind byte, args ...uint64) { b = numbers(numbers(append(b, kind), 1000), args...) }
	created := 100 + n
	ev(evProcStatus, 0, 1)
	ev(evGoStatus, 1, 7, 2) // running
	ev(evProcsChange, 2, 0)
	ev(evTaskBegin, 10*n, 0, 5, 2)
	ev(evRegionBegin, 10*n, 6, 2)
	ev(evUserLog, 10*n, 7, 8, 2)
	ev(evHeapAlloc, 1000*n)
	ev(evSTWBegin, 9, 2)
	ev(evSTWEnd)
	ev(evSyscallBegin, 1, 2)
	ev(evSyscallEnd)
	ev(evGoCreate, created, 1, 2)
	ev(evGoBlock, 4, 2) // 1 waits at 13 us
	ev(evGoStart, created, 1)
	ev(evGoUnblock, 1, 1, 0) // until 15 us
	ev(evGoDestroy)
	if d.open {
		return b
	}
	ev(evGoStart, 1, 2)
	ev(evRegionEnd, 10*n, 6, 2)
	ev(evTaskEnd, 10*n, 2)
	return b
}

func drawTrace(version int, generations uint64) []byte {
	d := draw(version)
	for n := range generations {
		d.generation(n+1, 1_000_000_000*(n+1))
	}
	return d.out
}

// versions are those of the format, before and with readings of the clocks, and
// ends of generations.
var versions = []int{22, 23, 25, 26}

// TestDrawn holds what becomes of a trace that is known to the nanosecond.
func TestDrawn(t *testing.T) {
	for _, version := range versions {
		got := tallyOurs(t, drawTrace(version, 3), Options{}).tallied
		want := tallied{
			Waits: map[string]waited{
				"channel receive": {3, 3 * 2000}, "system call": {3, 3 * 1000},
				"runnable": {6, 3 * (2000 + 2000)},
			},
			Markers: map[string]int64{"task": 3, "region": 3, "log": 3, "stop the world": 3, "system call": 3},
			Lasted:  map[string]int64{"task": 3 * 15_000, "region": 3 * 13_000, "stop the world": 3 * 1000, "system call": 3 * 1000},
			Samples: 3, Created: 3,
			Values: map[string]int64{"heap": 6000, "GOMAXPROCS": 2, "threads": 1},
		}
		for name := range got.Values {
			if _, ok := want.Values[name]; !ok {
				delete(got.Values, name)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("version %d:\ngot  %+v\nwant %+v", version, got, want)
		}
	}
}

// TestThreadOfC holds that a goroutine without a stack counts: one that a thread
// of C code has while it calls Go begins and ends in a system call.
func TestThreadOfC(t *testing.T) {
	d := draw(newest)
	d.ofC = append(numbers([]byte{evGoCreateSyscall}, 1000, 200), evGoDestroySyscall)
	d.ofC = numbers(d.ofC, 3000)
	d.generation(1, 1_000_000_000)
	want, got := judgeTrace(t, d.out).tallied, tallyOurs(t, d.out, Options{}).tallied
	if got.Created != 2 || got.Created != want.Created || got.Waits["system call"] != (waited{2, 1000 + 3000}) {
		t.Errorf("%d goroutines created, system calls %+v; the reader has %d and %+v", got.Created, got.Waits["system call"], want.Created, want.Waits["system call"])
	}
}

// logTimes are the moments of the logs of a trace.
type logTimes struct {
	stream.Sink
	t  *stream.Tables
	at []stream.Time
}

func (l *logTimes) Begin(t *stream.Tables) error {
	l.t = t
	return l.Sink.Begin(t)
}

func (l *logTimes) Segment(b *stream.Batch) error {
	if b.Series.Kind == stream.Markers && l.t.Event(b.Series.Event).Name == "log" {
		l.at = append(l.at, b.Time...)
	}
	return l.Sink.Segment(b)
}

// TestMoments holds where a trace is put on the time line: by its readings of the
// clocks, by a clock that it shares with others, or, if it has none, by its own.
func TestMoments(t *testing.T) {
	const logged = 6000 // ns behind the beginning of each generation
	for _, c := range []struct {
		version int
		o       Options
		first   stream.Time
	}{
		{26, Options{}, 1_700_000_001*second + logged},
		{26, Options{Shift: 7}, 1_700_000_001*second + logged + 7},
		{25, Options{Place: func(mono uint64) stream.Time { return stream.Time(mono) }}, 6*second + logged},
		{23, Options{}, 1*second + logged},
		{23, Options{Shift: second}, 2*second + logged},
	} {
		src, err := sourceOf(drawTrace(c.version, 2), c.o)
		if err != nil {
			t.Fatal(err)
		}
		l := logTimes{Sink: stream.Discard}
		if err := stream.Copy(&l, src, stream.CopyOptions{}); err != nil {
			t.Fatal(err)
		}
		if want := []stream.Time{c.first, c.first + second}; !slices.Equal(l.at, want) {
			t.Errorf("version %d, %+v: logs at %d, want %d", c.version, c.o.Shift, l.at, want)
		}
	}
}

// TestFiles is the conformance suite for files, which cuts and damages them.
func TestFiles(t *testing.T) {
	for _, version := range []int{version22, version26} {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			streamtest.TestFile(t, drawTrace(version, 3), func(data []byte) (stream.Source, error) { return sourceOf(data, Options{}) })
		})
	}
}

// TestErrors is about files that are nothing, and where they are torn.
func TestErrors(t *testing.T) {
	whole := drawTrace(26, 2)
	second := int64(len(drawTrace(26, 1)))
	for _, c := range []struct {
		name string
		data []byte
		want error
		off  int64 // -1: the error has none
	}{
		{"foreign", []byte("PAR1 and so on, longer than a header"), ErrMagic, -1},
		{"empty", nil, ErrMagic, -1},
		{"old", []byte("go 1.21 trace\x00\x00\x00\x01\x02"), ErrVersion, -1},
		{"new", []byte("go 1.99 trace\x00\x00\x00\x01\x02"), ErrVersion, -1},
		{"header alone", whole[:headerSize], ErrEmpty, -1},
		{"cut in the first generation", whole[:second-5], damage.ErrTorn, headerSize},
		{"cut in the second generation", whole[:second+50], damage.ErrTorn, second},
		{"damaged", slices.Concat(whole[:second], []byte{77}, whole[second:]), damage.ErrDamaged, second},
	} {
		_, err := Open(inMemory(c.data))
		var at *damage.Error
		if !errors.Is(err, c.want) {
			t.Errorf("%s: the error is %v, want %v", c.name, err, c.want)
		} else if errors.As(err, &at) && at.Off < c.off {
			t.Errorf("%s: the error names offset %d, want %d or behind", c.name, at.Off, c.off)
		} else if c.off >= 0 && at == nil {
			t.Errorf("%s: the error names no offset", c.name)
		}
	}
}

// TestLostGeneration damages one of three generations where only the library
// sees it: the others stay, and the ledger says where the lost one is.
func TestLostGeneration(t *testing.T) {
	for _, version := range versions {
		for name, c := range map[string]struct {
			tail  []byte // of the strings
			event bool
			ends  int64 // ends of a task alone
		}{"event": {event: true, ends: 1}, "table": {tail: []byte{evString}}} {
			d := draw(version)
			d.generation(1, 1*second)
			first := len(d.out)
			d.tail = c.tail
			d.generation(2, 2*second)
			next := len(d.out)
			d.tail = nil
			d.generation(3, 3*second)
			lost := d.out[first:next]
			if c.event {
				block := append(numbers([]byte{evGoBlock}, 1000, 4, 2), numbers([]byte{evGoStart}, 1000, 102)...)
				lost[bytes.Index(lost, block)] = 120 // no such event
			}
			lines, sink := ledgerOf(t, d.out)
			if len(lines) != 1 || lines[0].Reason != stream.ReasonDamaged || lines[0].Count != 1 || lines[0].Bytes != int64(len(lost)) {
				t.Errorf("version %d, %s: the ledger has %+v, want a generation of %d bytes", version, name, lines, len(lost))
			}
			if sink.Markers["task"] != 2 || sink.Markers["task!"] != c.ends || sink.Waits["channel receive"].Count != 2 || sink.Samples < 2 {
				t.Errorf("version %d, %s: %+v is left, want all of two generations", version, name, sink.tallied)
			}
		}
	}
}

// ledgerOf reads a trace and returns what the ledger says of damage.
func ledgerOf(t *testing.T, data []byte) (lines []stream.Line, sink *tallySink) {
	t.Helper()
	src, err := sourceOf(data, Options{})
	if err != nil {
		t.Fatal(err)
	}
	sink = new(tallySink)
	if err := stream.Copy(streamtest.Validate(sink), src, stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(sink.t.Ledger.Lines(), func(l stream.Line) bool { return l.Reason == stream.ReasonUnproven }), sink
}

// TestMissingGenerations takes two of four generations out of a file, which leaves
// one that no reader could tell from a whole one but for its numbers.
func TestMissingGenerations(t *testing.T) {
	second, last := len(drawTrace(26, 1)), len(drawTrace(26, 3))
	data := drawTrace(26, 4)
	lines, sink := ledgerOf(t, slices.Concat(data[:second], data[last:]))
	if len(lines) != 1 || lines[0].Reason != stream.ReasonDamaged || lines[0].What != "generations" || lines[0].Count != 2 ||
		!strings.Contains(lines[0].Where, fmt.Sprint("offset ", second)) {
		t.Errorf("the ledger has %+v, want two generations at offset %d", lines, second)
	}
	if sink.Markers["task"] != 2 || sink.Waits["channel receive"].Count != 2 {
		t.Errorf("%+v is left, want all of two generations", sink.tallied)
	}
}

// TestLeap has a goroutine begin a generation in another state than the one in
// which it ended the last: what happened between is lost, and the ledger says so.
func TestLeap(t *testing.T) {
	d := draw(26)
	d.generation(1, 1*second)
	d.open = true
	d.generation(2, 2*second)
	d.open = false
	d.generation(3, 3*second)
	lines, sink := ledgerOf(t, d.out)
	if len(lines) != 1 || lines[0].Reason != stream.ReasonDamaged || lines[0].What != "goroutines" || lines[0].Count != 1 {
		t.Errorf("the ledger has %+v, want one goroutine", lines)
	}
	if sink.Markers["task"] != 2 || sink.Markers["task!"] != 1 {
		t.Errorf("%+v is left, want all of three generations but for the end of a task", sink.tallied)
	}
}

// TestTornRecorded cuts a real trace: what comes before the torn generation is
// all there.
func TestTornRecorded(t *testing.T) {
	data := record(t)
	f, err := Open(inMemory(data))
	if err != nil {
		t.Fatal(err)
	}
	if len(f.all) < 2 {
		t.Fatalf("the trace has %d generations, want two or more", len(f.all))
	}
	last := f.all[len(f.all)-1]
	src, err := sourceOf(data[:last.to-100], Options{})
	var at *damage.Error
	if !errors.As(err, &at) || !errors.Is(err, damage.ErrTorn) {
		t.Fatalf("the error is %v, want %v at an offset", err, damage.ErrTorn)
	}
	var sink tallySink
	if err := stream.Copy(streamtest.Validate(&sink), src, stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	want := judgeTrace(t, data[:last.from]).tallied
	if got := sink.Waits["network"]; got != want.Waits["network"] || got.Count == 0 {
		t.Errorf("waits for the network: %+v, want %+v", got, want.Waits["network"])
	}
	if sink.Markers["region"] != want.Markers["region"] {
		t.Errorf("%d regions, want %d", sink.Markers["region"], want.Markers["region"])
	}
}

// FuzzOpen is any file at all: no panic, a valid stream or an error.
func FuzzOpen(f *testing.F) {
	for _, version := range versions {
		f.Add(drawTrace(version, 2))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		src, _ := sourceOf(data, Options{Tracks: Grouping(len(data) % 3), States: len(data)%2 == 0})
		if src == nil {
			return
		}
		for b := (stream.Batch{}); ; {
			if err := src.Next(&b); err != nil {
				return
			}
			if err := b.Check(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
