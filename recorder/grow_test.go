package recorder_test

import (
	"bytes"
	"context"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"gprof/recorder"
)

// A program that gets more processors than it began with goes on recording, on
// shards that the new ones share: each marker is found, or counted as lost.
func TestGrowing(t *testing.T) {
	const goroutines, each = 32, 2000
	rec := begin(t, recorder.Options{Limit: 32 << 20, ChunkSize: 64 << 10})
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for i := range each {
				numbered.Mark(g, i)
				if i%200 == 0 { // the keeper needs time to make chunks for all of them
					time.Sleep(time.Millisecond)
				}
			}
		})
	}
	for n := 2; n <= 16; n *= 2 {
		time.Sleep(3 * time.Millisecond)
		runtime.GOMAXPROCS(n)
	}
	wg.Wait()
	busy := int(rec.Drops().Busy)
	r := finish(t, rec)
	found, lost := len(r.of("numbered")), int(r.lost())
	t.Logf("%d markers, %d lost, %d of them found no shard", found, lost, busy)
	if found+lost != goroutines*each || busy > found/4 { // how many find no chunk depends on the keeper's turn to run
		t.Errorf("%d markers found, %d lost, %d of them for want of a shard; want %d together, and a shard for most", found, lost, busy, goroutines*each)
	}
}

// hostChild does what programs do, from many goroutines, for a while.
func hostChild() {
	rec := childRecorder(recorder.Options{Dir: os.Args[1], Limit: 2 << 20, CounterHz: 100})
	end := time.Now().Add(time.Second)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			_, work := recorder.NewTrack(context.Background(), "host")
			defer work.End()
			for i := 0; time.Now().Before(end); i++ {
				numbered.Mark(g, i)
				numbered.On(work.Track).Mark(g, i)
				span := numbered.Begin(g, i)
				benchText.Mark(i, "text")
				benchCall.Mark()
				recorder.Text("note", "text")
				span.End()
				if g == 0 && i%1000 == 999 {
					runtime.GOMAXPROCS(1 + i/1000%4)
					rec.Pause()
					rec.Resume()
				}
			}
		})
	}
	wg.Wait()
	if err := rec.Stop(); err != nil {
		panic(err)
	}
}

// The race detector reports nothing in a program that records. Where this
// package's tests are built with it, the child is, too.
func TestRaceHost(t *testing.T) {
	cmd := child("host", []string{t.TempDir()}, "GORACE=halt_on_error=1 exitcode=66")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if out, err := cmd.Output(); err != nil || stderr.Len() > 0 {
		t.Fatalf("%v, output %q, stderr:\n%s", err, out, strings.TrimSpace(stderr.String()))
	}
}
