package recorder_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"gprof/chunks"
	"gprof/rawformat"
	"gprof/recorder"
)

// earlyChild makes markers in many goroutines before, during and after Start, numbered by
// goroutine, and is killed.
func earlyChild() {
	recorder.StartEarly()
	event := recorder.NewEvent2("early", recorder.Int("by"), recorder.Int("n"))
	stack := recorder.NewEvent1("stack", recorder.String("text"), recorder.WithStack())
	many := recorder.NewEventN("early many", []recorder.AnyField{recorder.Int("a"), recorder.Int("b"), recorder.Int("c"), recorder.Int("d"), recorder.Int("e")})
	span := recorder.NewEvent1("span", recorder.Int("n")).Begin(7)
	_, work := recorder.NewTrack(context.Background(), "init")
	stack.Mark("who called")
	many.Mark(recorder.V(1), recorder.V(2), recorder.V(3), recorder.V(4), recorder.V(5))
	work.End()
	begun, quit, ended := make(chan struct{}), make(chan struct{}), make(chan int)
	for by := range 4 {
		go func() {
			n := 0
			for ; n < 500; n++ {
				event.Mark(by, n)
			}
			begun <- struct{}{}
			for done := false; !done; n++ {
				select {
				case <-quit:
					done = true
				default:
				}
				event.Mark(by, n)
				time.Sleep(20 * time.Microsecond) // the memory before Start is bounded
			}
			ended <- n
		}()
	}
	for range 4 {
		<-begun
	}
	if os.Args[2] == "fail" {
		if _, err := recorder.Start(recorder.Options{Dir: "/dev/null", CounterHz: -1}); err == nil {
			panic("a recorder in /dev/null")
		}
	}
	options := recorder.Options{Dir: os.Args[1], Limit: 16 << 20, CPU: recorder.CPUOff, CounterHz: -1}
	if os.Args[2] == "without stacks" {
		options.Without = recorder.FeatureStacks
	}
	childRecorder(options)
	close(quit)
	sum := 0
	for range 4 {
		sum += <-ended
	}
	span.End()
	awaitInstants(recorder.Running(), sum+2) // wait for goroutines that lost their processor in a marker
	fmt.Println(sum, recorder.Running().Drops().Markers())
	p, err := os.FindProcess(os.Getpid())
	if err != nil {
		panic(err)
	}
	p.Kill()
	select {}
}

// awaitInstants waits until so many instants are recorded or dropped, for a minute.
func awaitInstants(rec *recorder.Recorder, n int) {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		found := int(rec.Drops().Markers())
		p, err := chunks.OpenProcess(os.DirFS(filepath.Dir(rec.Dir())), filepath.Base(rec.Dir()))
		if err != nil {
			panic(err)
		}
		for blocks := p.Blocks(func(chunks.Problem) {}); blocks.Next(); {
			if blocks.Block().Kind == rawformat.KindInstant {
				found++
			}
		}
		if found >= n {
			return
		}
	}
}

// The recording has the markers made before and during Start, in order, and no others.
// Intervals may begin before Start and end after it.
func TestEarly(t *testing.T) {
	for _, start := range []string{"", "fail", "without stacks"} {
		out, _ := child("early", []string{t.TempDir(), start}).Output()
		var dir string
		var sum, dropped int
		if n, err := fmt.Sscan(string(out), &dir, &sum, &dropped); n != 3 {
			t.Fatalf("%q: %v", out, err)
		}
		r := read(t, dir, chunks.Unproven)
		found := r.of("early")
		// Memory is bounded, and if Start has to wait for a processor further markers are
		// counted. The first 2000 have room.
		if len(found)+dropped != sum || len(found) < 1500 {
			t.Errorf("%d markers and %d dropped, %d were made", len(found), dropped, sum)
		}
		next, goroutine := map[uint64]uint64{}, map[uint64]uint64{}
		for _, e := range found {
			by, n := e.args[0].Num, e.args[1].Num
			if of, known := goroutine[by]; known && of != e.by {
				t.Fatalf("goroutine %d: marker %d is of goroutine %d, those before it of %d", by, n, e.by, of)
			}
			goroutine[by] = e.by
			if n < next[by] || n > next[by] && dropped == 0 {
				t.Fatalf("goroutine %d: marker %d, want %d", by, n, next[by])
			}
			next[by] = n + 1
		}
		if s := r.of("span"); len(s) != 1 || s[0].dur < found[len(found)/2].at-found[0].at || s[0].args[0].Num != 7 {
			t.Errorf("spans %+v", s)
		}
		if s := r.of("stack"); len(s) != 1 || string(s[0].args[0].Text) != "who called" {
			t.Errorf("stacks %+v", s)
		}
		stacks, want := r.markerStacks(), 1
		if start == "without stacks" {
			want = 0
		}
		for _, s := range stacks {
			if len(s.pcs) < 2 && s.id == 0 {
				t.Errorf("stack %+v", s)
			}
		}
		if len(stacks) != want {
			t.Errorf("%d markers with a stack, want %d", len(stacks), want)
		}
		if m := r.of("early many"); len(m) != 1 || len(m[0].args) != 5 || m[0].args[4].Num != 5 {
			t.Errorf("many %+v", m)
		}
		if r.kinds[rawformat.KindTrackStart] != 1 || r.kinds[rawformat.KindTrackEnd] != 1 {
			t.Errorf("%d tracks begin, %d end", r.kinds[rawformat.KindTrackStart], r.kinds[rawformat.KindTrackEnd])
		}
		r.checkEarlyRows(t)
		begun, _ := strconv.ParseUint(r.meta(rawformat.MetaStartMono), 10, 64)
		if len(found) > 0 && found[0].at < begun {
			t.Errorf("the recording begins at %d, its first marker is at %d", begun, found[0].at)
		}
	}
}

// checkEarlyRows checks that markers from before Start stand where their goroutines did.
func (r *recording) checkEarlyRows(t *testing.T) {
	t.Helper()
	if r.meta("self-test.goroutines") != "by their numbers" {
		return
	}
	main, starts := r.of("span")[0].start, map[uint64]bool{}
	for _, e := range r.of("early") {
		starts[e.start] = true
	}
	if main == 0 || len(starts) != 1 || starts[0] || starts[main] {
		t.Errorf("the main goroutine began at %d, others at %v, want another address for all of them", main, starts)
	}
	if s, many := r.of("stack")[0], r.of("early many")[0]; s.track == 0 || many.track != s.track {
		t.Errorf("markers of a goroutine on a track are on %d and %d", s.track, many.track)
	}
}
