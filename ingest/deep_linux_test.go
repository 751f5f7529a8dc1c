//go:build (amd64 || arm64) && !gprof_portable

package ingest

import (
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	"gprof/recorder"
	"gprof/stream"
)

var atDepth = recorder.NewEvent("at depth", recorder.WithStack())

// A sample that is deeper than is recorded is on its goroutine's track: its outermost
// frames are there, and (truncated) stands for those between. With room for them there
// is no such frame. Stacks that only Go's own limits cut begin with that frame.
func TestDeepStacks(t *testing.T) {
	cut := recordDeep(t, 0)
	if n := cut.tracks["gprof/ingest.sinks"]; n == 0 || len(cut.tracks) > 3 || cut.tracks["gprof/ingest.below"] > 0 {
		t.Errorf("samples by track: %v", cut.tracks)
	}
	if cut.shapes["gprof/ingest.sinks;(truncated);gprof/ingest.below"] == 0 {
		t.Errorf("samples by their outermost frames: %v", cut.shapes)
	}
	if cut.begins[stream.Markers] == 0 || cut.begins[stream.Waits] == 0 {
		t.Errorf("no marker or wait begins with (truncated): %v, %v", cut.begins, cut.shapes)
	}
	if cut.lost == 0 {
		t.Error("the ledger has no line of stacks that were cut")
	}
	whole := recordDeep(t, 400)
	if whole.shapes["gprof/ingest.sinks;gprof/ingest.below;gprof/ingest.below"] == 0 || whole.shapes["gprof/ingest.sinks;(truncated);gprof/ingest.below"] > 0 {
		t.Errorf("with room for 400 calls, by their outermost frames: %v", whole.shapes)
	}
}

var spun int

// fewLooks is how long it takes to look some times where goroutines wait, and to take some samples.
const fewLooks = 500 * time.Millisecond

// cpuTime is that of this process.
func cpuTime(t *testing.T) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Error(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// deep is what a recording of deep stacks tells.
type deep struct {
	tracks, shapes map[string]int      // of samples; and of all that has a stack, by three frames
	begins         map[stream.Kind]int // stacks that begin with (truncated)
	lost           int64
}

func recordDeep(t *testing.T, depth int) (d deep) {
	t.Helper()
	rec, err := recorder.Start(recorder.Options{Dir: t.TempDir(), Limit: 16 << 20, CounterHz: -1, StackDepth: depth, WaitHz: 10})
	if err != nil {
		t.Fatal(err)
	}
	before := rec.Drops().Samples
	quit, done := make(chan struct{}), make(chan struct{})
	go sinks(300, func() { <-quit }, done)
	go sinks(300, func() {
		atDepth.Mark()
		for begun, used := time.Now(), cpuTime(t); min(time.Since(begun), cpuTime(t)-used) < fewLooks; {
			for n := range 1_000_000 {
				spun += n
			}
		}
		close(quit)
	}, done)
	<-done
	<-done
	if n := rec.Drops().Samples - before; n > 5 {
		t.Errorf("%d samples lost", n)
	}
	if err := rec.Stop(); err != nil {
		t.Fatal(err)
	}
	return deepIn(t, rec.Session())
}

//go:noinline
func sinks(calls int, work func(), done chan<- struct{}) {
	below(calls, work)
	done <- struct{}{}
}

//go:noinline
func below(calls int, work func()) {
	if calls == 0 {
		work()
		return
	}
	below(calls-1, work)
}

func deepIn(t *testing.T, session string) deep {
	t.Helper()
	d := deep{tracks: map[string]int{}, shapes: map[string]int{}, begins: map[stream.Kind]int{}}
	src, _, err := Open([]string{session}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	tables := src.Tables()
	for {
		var b stream.Batch
		if err := src.Next(&b); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		for _, stack := range b.Stack {
			if !passes(tables, stack, "gprof/ingest.below") {
				continue
			}
			shape := outermost(tables, stack)
			if d.shapes[shape]++; strings.HasPrefix(shape, "(truncated);") {
				d.begins[b.Series.Kind]++
			}
			if b.Series.Kind == stream.Samples {
				d.tracks[tables.Tracks.At(b.Series.Track).Name]++
			}
		}
	}
	for _, l := range tables.Ledger.Lines() {
		if l.Reason == stream.ReasonDeep {
			d.lost += l.Count
		}
	}
	return d
}

func outermost(t *stream.Tables, stack stream.StackID) string {
	var names []string
	for stack != 0 {
		parent, frame := t.Stacks.At(stack)
		if name := t.Strings.At(t.Frames.At(frame).Function); name != "runtime.goexit" {
			names = append(names, name)
		}
		stack = parent
	}
	text := ""
	for i := range min(3, len(names)) {
		name := names[len(names)-1-i]
		if i > 0 {
			text += ";"
		}
		text += name
	}
	return text
}
