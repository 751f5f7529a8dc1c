package recorder_test

import (
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
	floorStart  = time.Now()
	floorBuffer [1 << 20]byte
)

// BenchmarkMark compares markers with the floor: a clock and 40 bytes. Compare
// within one run only, on an idle machine:
//
//	go test ./recorder -run '^$' -bench Mark -count 10 | go tool benchstat -col /impl -
//
// impl=mark is at most 1.6 times impl=floor.
func BenchmarkMark(b *testing.B) {
	rec, err := recorder.Start(recorder.Options{Dir: b.TempDir(), Limit: 16 << 20, CounterHz: -1})
	if err != nil {
		b.Fatal(err)
	}
	defer rec.Stop()
	for _, impl := range markImpls {
		b.Run("impl="+impl.name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				impl.one(i)
			}
		})
	}
	b.Run("impl=parallel", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				benchTwo.Mark(5, 77)
			}
		})
	})
	rec.Pause()
	b.Run("impl=paused", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			benchTwo.Mark(i, 77)
		}
	})
}

var markImpls = []struct {
	name string
	one  func(i int)
}{
	{"floor", floor},
	{"mark", func(i int) { benchTwo.Mark(i, 77) }},
	{"text", func(i int) { benchText.Mark(i, "0123456789abcdef") }},
	{"four", func(i int) { benchFour.Mark(i, 7, 1.5, true) }},
	{"interval", func(i int) { benchTwo.Begin(i, 77).End() }},
	{"stack", func(int) { benchCall.Mark() }},
	{"untyped", func(int) { recorder.Mark("bench untyped") }},
}

var floorAt int

func floor(i int) {
	if floorAt+40 > len(floorBuffer) {
		floorAt = 0
	}
	p := (*[5]uint64)(unsafe.Pointer(&floorBuffer[floorAt]))
	p[0], p[1], p[2], p[3], p[4] = uint64(time.Since(floorStart)), uint64(i), 3, 4, 5
	floorAt += 40
}
