package recorder_test

import (
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"gprof/recorder"
)

// A marker tells its goroutine, whichever way it goes and whoever had the writer
// before; where that can't be found out, none does, and meta says so.
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

// goroutineNumber is the caller's.
func goroutineNumber() uint64 {
	var b [64]byte
	n, _ := strconv.ParseUint(strings.Fields(string(b[:runtime.Stack(b[:], false)]))[1], 10, 64)
	return n
}
