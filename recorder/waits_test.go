package recorder_test

import (
	"testing"
	"time"

	"gprof/chunks"
	"gprof/rawformat"
	"gprof/recorder"
)

// The recording has where goroutines wait, with the reason and the time.
func TestWaits(t *testing.T) {
	rec := begin(t, recorder.Options{WaitHz: 10, CPU: recorder.CPUOff})
	const receivers = 7
	stop, ended := make(chan bool), make(chan bool)
	for range receivers {
		go func() {
			<-stop
			ended <- true
		}()
	}
	var r *recording
	longest := func() (wall uint64) {
		for blocks := r.Blocks(func(chunks.Problem) {}); blocks.Next(); {
			b := blocks.Block()
			if b.Kind != rawformat.KindWait {
				continue
			}
			b.Fields.Sint("time")
			b.Fields.Uint("stack")
			reason, goroutines := b.Fields.Uint("reason"), b.Fields.Uint("goroutines")
			if reason == uint64(rawformat.WaitReceive) && goroutines == receivers {
				wall += b.Fields.Uint("wall")
			}
		}
		return wall
	}
	for deadline := time.Now().Add(time.Minute); ; {
		time.Sleep(50 * time.Millisecond)
		r = read(t, rec.Dir(), chunks.Unproven, chunks.Torn, chunks.Stale)
		if longest() >= uint64(300*time.Millisecond) || time.Now().After(deadline) {
			break
		}
	}
	close(stop)
	for range receivers {
		<-ended
	}
	if wall := longest(); wall < uint64(300*time.Millisecond) {
		t.Errorf("%d goroutines waited for %v, want 300ms", receivers, time.Duration(wall))
	}
	finish(t, rec)
}

// By default the recorder does not look at goroutines, which would stop the world.
func TestNoWaits(t *testing.T) {
	if n := finish(t, begin(t, recorder.Options{})).kinds[rawformat.KindWait]; n != 0 {
		t.Errorf("%d waits", n)
	}
}
