package recorder_test

import (
	"testing"
	"time"

	"gprof/chunks"
	"gprof/rawformat"
	"gprof/recorder"
)

// Rounds see each goroutine that waits, and for how long; they can be switched while the program
// runs.
func TestWall(t *testing.T) {
	rec := begin(t, recorder.Options{CPU: recorder.CPUOff})
	const receivers = 7
	stop, ended := make(chan bool), make(chan bool)
	for range receivers {
		go func() {
			<-stop
			ended <- true
		}()
	}
	rec.SampleWall(100)
	var r *recording
	waited := func() (wall map[uint64]uint64) {
		wall = map[uint64]uint64{}
		for blocks := r.Blocks(func(chunks.Problem) {}); blocks.Next(); {
			b := blocks.Block()
			if b.Kind != rawformat.KindWaiting {
				continue
			}
			b.Fields.Sint("time")
			goroutine := b.Fields.Uint("goroutine")
			b.Fields.Uint("stack")
			reason, rounds := b.Fields.Uint("reason"), b.Fields.Uint("rounds")
			if reason == uint64(rawformat.WaitReceive) {
				wall[goroutine] += rounds * b.Fields.Uint("period")
			}
		}
		return wall
	}
	enough := func() (n int) {
		for _, wall := range waited() {
			if wall >= uint64(200*time.Millisecond) {
				n++
			}
		}
		return n
	}
	await(t, "rows of all receivers", func() bool {
		r = read(t, rec.Dir(), chunks.Unproven, chunks.Torn, chunks.Stale)
		return enough() >= receivers || r.kinds[rawformat.KindWait] > 0 // where rounds can't be
	})
	rec.SampleWall(0)
	awaitRound(t, rec)
	awaitRound(t, rec)
	r = read(t, rec.Dir(), chunks.Unproven, chunks.Torn, chunks.Stale)
	before := r.kinds[rawformat.KindWaiting]
	for range 3 {
		awaitRound(t, rec)
	}
	close(stop)
	for range receivers {
		<-ended
	}
	if after := finish(t, rec).kinds[rawformat.KindWaiting]; after != before {
		t.Errorf("%d rows after rounds were switched off", after-before)
	}
}
