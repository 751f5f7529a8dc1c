package recorder_test

import (
	"runtime"
	"testing"
	"time"
	"unsafe"

	"gprof/recorder"
)

var (
	benchTwo  = recorder.NewEvent2("bench two", recorder.Int("a"), recorder.Bytes("b"))
	benchText = recorder.NewEvent2("bench text", recorder.Int("a"), recorder.String("b"))
	benchFour = recorder.NewEvent4("bench four", recorder.Int("a"), recorder.Uint("b"), recorder.Float("c"), recorder.Bool("d"))
	benchCall = recorder.NewEvent("bench stack", recorder.WithStack())
)

var (
	floorBuffer [1 << 20]byte
)

// BenchmarkMark compares markers with a floor: reading a clock and storing 40 bytes.
//
//	go test ./recorder -run '^$' -bench Mark
//
// Besides the mean, each reports x-floor: the best of many short rounds, divided by the best
// of as many rounds of the floor. The rounds alternate, so that the ratio holds on a busy
// machine, too. impl=mark should be at most 0.6 times the floor where time is the processor's
// counter, else 1.3 times; impl=stack32 an eighth of callers32.
func BenchmarkMark(b *testing.B) {
	rec, err := recorder.Start(recorder.Options{Dir: b.TempDir(), Limit: 16 << 20, CounterHz: -1})
	if err != nil {
		b.Fatal(err)
	}
	defer rec.Stop()
	for _, impl := range markImpls {
		b.Run("impl="+impl.name, func(b *testing.B) { benchOverFloor(b, impl.run) })
	}
	b.Run("impl=parallel", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				benchTwo.Mark(5, 77)
			}
		})
	})
	rec.Pause()
	b.Run("impl=paused", func(b *testing.B) { benchOverFloor(b, markTwo) })
}

// BenchmarkOff measures a marker that is not recorded. best-ns is the cost in the best round,
// whatever else the machine does: it should be at most 2 ns, plus a call on a track that is
// not recorded, and some 60 ns for a goroutine that is not recorded, however deep its stack is.
func BenchmarkOff(b *testing.B) {
	b.Run("why=stopped", func(b *testing.B) { benchBest(b, markTwo) })
	for _, off := range []struct {
		why string
		o   recorder.Options
		do  func(*recorder.Recorder)
	}{
		{"paused", recorder.Options{}, (*recorder.Recorder).Pause},
		{"feature", recorder.Options{Without: recorder.FeatureMarkers}, func(*recorder.Recorder) {}},
	} {
		rec := begin(b, off.o)
		off.do(rec)
		b.Run("why="+off.why, func(b *testing.B) { benchBest(b, markTwo) })
		rec.Stop()
	}
	begin(b, recorder.Options{Tracks: []string{"-left out", "-testing.", "-BenchmarkOff"}})
	_, work := recorder.NewTrack(b.Context(), "left out")
	defer work.End()
	aimed := benchTwo.On(work.Track)
	b.Run("why=track", func(b *testing.B) {
		benchBest(b, func(n int) {
			for i := range n {
				aimed.Mark(i, 77)
			}
		})
	})
	b.Run("why=root", func(b *testing.B) { benchBest(b, markTwo) })
	b.Run("why=deep", func(b *testing.B) {
		done := make(chan bool)
		go func() { // no other goroutine begins here, with a stack that could be walked to its end
			defer close(done)
			nested(2000, func() { benchBest(b, markTwo) })
		}()
		<-done
	})
}

// benchBest reports the best of many short rounds, in ns per run.
func benchBest(b *testing.B, run func(n int)) {
	const round = 1000
	best := time.Hour
	for n := b.N; n > 0; n -= round {
		best = min(best, timed(run, min(n, round)))
	}
	b.ReportMetric(float64(best)/1e6, "best-ns")
}

// BenchmarkStats measures a scrape of metrics.
func BenchmarkStats(b *testing.B) {
	rec := begin(b, recorder.Options{})
	b.ReportAllocs()
	benchBest(b, func(n int) {
		for range n {
			rec.Stats()
		}
	})
}

var markImpls = []struct {
	name string
	run  func(n int)
}{
	{"floor", floor},
	{"mark", markTwo},
	{"text", func(n int) {
		for i := range n {
			benchText.Mark(i, "0123456789abcdef")
		}
	}},
	{"four", func(n int) {
		for i := range n {
			benchFour.Mark(i, 7, 1.5, true)
		}
	}},
	{"interval", func(n int) {
		for i := range n {
			benchTwo.Begin(i, 77).End()
		}
	}},
	{"stack", func(n int) {
		for range n {
			benchCall.Mark()
		}
	}},
	{"stack32", func(n int) {
		nested(32, func() {
			for range n {
				benchCall.Mark()
			}
		})
	}},
	{"callers32", func(n int) {
		nested(32, func() {
			var calls [64]uintptr
			for range n {
				runtime.Callers(1, calls[:])
			}
		})
	}},
	{"untyped", func(n int) {
		for range n {
			recorder.Mark("bench untyped")
		}
	}},
}

// nested calls f below depth more calls.
//
//go:noinline
func nested(depth int, f func()) {
	if depth == 0 {
		f()
		return
	}
	nested(depth-1, f)
	runtime.KeepAlive(&depth)
}

func markTwo(n int) {
	for i := range n {
		benchTwo.Mark(i, 77)
	}
}

func benchOverFloor(b *testing.B, run func(n int)) {
	const round = 1000
	b.ReportAllocs()
	run(round) // definitions, first pages
	best, least := time.Hour, time.Hour
	for n := b.N; n > 0; n -= round {
		best = min(best, timed(run, min(n, round)))
		b.StopTimer()
		least = min(least, timed(floor, min(n, round)))
		b.StartTimer()
	}
	b.ReportMetric(float64(best)/float64(least), "x-floor")
}

// timed is how long n runs take, scaled to a million.
func timed(run func(n int), n int) time.Duration {
	start := time.Now()
	run(n)
	return time.Since(start) * 1e6 / time.Duration(n)
}

var floorAt int

func floor(n int) {
	for i := range n {
		if floorAt+40 > len(floorBuffer) {
			floorAt = 0
		}
		p := (*[5]uint64)(unsafe.Pointer(&floorBuffer[floorAt]))
		p[0], p[1], p[2], p[3], p[4] = uint64(nanotime()), uint64(i), 3, 4, 5
		floorAt += 40
	}
}

// nanotime is the clock of the floor: the runtime's own.
//
//go:linkname nanotime runtime.nanotime
func nanotime() int64
