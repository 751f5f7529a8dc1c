package recorder_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
	"time"

	"gprof/chunks"
	"gprof/rawformat"
	"gprof/recorder"
)

var numbered = recorder.NewEvent2("numbered", recorder.Int("goroutine"), recorder.Int("n"))

// markFrom has several goroutines make n markers each.
func markFrom(goroutines, n int) {
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for i := range n {
				numbered.Mark(g, i)
			}
		})
	}
	wg.Wait()
}

// lost is how many markers were dropped, as the recording says.
func (r *recording) lost() (n uint64) {
	for reason, count := range r.losses() {
		if reason != rawformat.LostDeep { // cut stacks are not lost markers
			n += count
		}
	}
	return n
}

// losses reads from the recording how much was dropped, by reason.
func (r *recording) losses() map[rawformat.LostReason]uint64 {
	all := map[rawformat.LostReason]uint64{}
	blocks := r.Blocks(func(chunks.Problem) {})
	for blocks.Next() {
		if b := blocks.Block(); b.Kind == rawformat.KindLost {
			b.Fields.Sint("time")
			reason := rawformat.LostReason(b.Fields.Uint("reason"))
			all[reason] += b.Fields.Uint("count")
		}
	}
	return all
}

// No marker is lost without being counted, and the markers of a goroutine are in order.
func TestConcurrentMarkers(t *testing.T) {
	const goroutines, each = 8, 5000
	rec := begin(t, recorder.Options{Limit: 16 << 20})
	await(t, "the ring has room for all of them", func() bool { return rec.Stats().Held >= 2<<20 })
	markFrom(goroutines, each)
	if n := rec.Stats().Discarded; n > 0 {
		t.Fatalf("%d chunks were discarded", n)
	}
	r := finish(t, rec)
	found := r.of("numbered")
	if uint64(len(found))+r.lost() != goroutines*each {
		t.Errorf("%d markers found, %d lost, want %d together", len(found), r.lost(), goroutines*each)
	}
	seen := map[[2]uint64]bool{}
	for _, e := range found {
		key := [2]uint64{e.args[0].Num, e.args[1].Num}
		if seen[key] || key[0] >= goroutines || key[1] >= each {
			t.Fatalf("marker %v twice or never made", key)
		}
		seen[key] = true
	}
}

// When the ring wraps, the newest markers are there without a gap, and the ring has grown to its
// limit.
func TestWrap(t *testing.T) {
	const limit = 1 << 20
	rec := begin(t, recorder.Options{Limit: limit})
	n := 0
	mark := func(more int) {
		for range more {
			numbered.Mark(0, n)
			n++
		}
	}
	await(t, "the ring has its size", func() bool { // no faster than the keeper can follow
		mark(2000)
		return rec.Stats().Held > limit*7/8
	})
	mark(200_000)
	r := finish(t, rec)
	found := r.of("numbered")
	if len(found) == 0 || len(found) == n {
		t.Fatalf("%d of %d markers, want the newest ones", len(found), n)
	}
	dropped := int(r.lost()) // while the keeper has no processor markers may be dropped, which is counted
	if dropped > n/10 {
		t.Fatalf("%d markers dropped", dropped)
	}
	// They come chunk by chunk, and a goroutine may change its chunk. The chunk that it
	// left has older markers, and is kept until it lags by half the ring.
	present := make([]bool, n)
	for _, e := range found {
		present[e.args[1].Num] = true
	}
	window := 0
	for i := n - 1; i >= 0 && (present[i] || dropped > 0); i-- {
		if window++; !present[i] {
			dropped--
		}
	}
	if window < len(found)*3/4 {
		t.Fatalf("the last %d of %d markers are without a hole", window, len(found))
	}
	held := 0
	for _, im := range r.Chunks {
		held += int(im.Header.Commit.Offset())
	}
	if held < limit/3 { // because the dictionary, rings of the threads there are and open chunks count, too
		t.Errorf("%d bytes are kept of a limit of %d", held, limit)
	}
	// An idle writer may hold the first chunk until the keeper's next round.
	if r.Exit == nil || r.Exit.Discarded == 0 || r.Exit.RangeEnd <= r.Exit.RangeStart {
		t.Errorf("exit %+v, want chunks that were discarded", r.Exit)
	}
}

func TestTracks(t *testing.T) {
	rec := begin(t, recorder.Options{})
	outer, work := recorder.NewTrack(context.Background(), "worker 1")
	numbered.On(work.Track).Mark(0, 1)
	numbered.Mark(0, 2)
	inner, again := recorder.NewTrack(outer, "worker 2")
	if v, _ := pprof.Label(inner, "gprof.track"); v != "worker 2" {
		t.Errorf("label %q, want worker 2", v)
	}
	two.On(again.Track).Mark(1, "on the long way")
	again.Track.Mark("untyped on a track")
	recorder.Mark("of the goroutine")
	again.End()
	numbered.Mark(0, 3)
	numbered.On(nil).Mark(0, 4)
	recorder.Mark("aimed", recorder.OnTrack(again.Track))
	recorder.Text("aimed with a text", "hello", recorder.OnTrack(again.Track))
	again.Track.Text("text on a track", "hello")
	recorder.Mark("aimed at the process", recorder.OnTrack(nil))
	again.End()
	_, same := recorder.NewTrack(outer, "worker 1")
	if same.Track != work.Track {
		t.Error("two tracks of one name")
	}
	same.End()
	held, release, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		_, elsewhere := recorder.NewTrack(context.Background(), "worker 2")
		close(held)
		<-release
		elsewhere.End()
		close(ended)
	}()
	<-held
	for i := range 100 { // no block comes in between, because the track has begun
		numbered.Mark(0, 1000+i)
		_, inner := recorder.NewTrack(outer, "worker 2")
		numbered.Mark(0, 2000+i)
		inner.End()
		numbered.Mark(0, 3000+i)
	}
	work.End()
	close(release)
	<-ended
	numbered.Mark(0, 5)
	r := finish(t, rec)
	want := map[string]string{"numbered 1": "worker 1", "numbered 2": "worker 1", "two 1": "worker 2", "untyped on a track": "worker 2",
		"of the goroutine": "worker 2", "numbered 3": "worker 1", "numbered 4": "", "numbered 5": "",
		"aimed": "worker 2", "aimed with a text": "worker 2", "text on a track": "worker 2", "aimed at the process": ""}
	for i := range 100 {
		want[fmt.Sprint("numbered ", 1000+i)], want[fmt.Sprint("numbered ", 2000+i)], want[fmt.Sprint("numbered ", 3000+i)] = "worker 1", "worker 2", "worker 1"
	}
	if r.meta("self-test.goroutines") != "by their numbers" { // then nobody knows where a goroutine is
		want = map[string]string{"numbered 1": "worker 1", "two 1": "worker 2", "untyped on a track": "worker 2", "numbered 2": "", "of the goroutine": "",
			"aimed": "worker 2", "aimed with a text": "worker 2", "text on a track": "worker 2", "aimed at the process": ""}
	}
	for what, track := range want {
		if got, ok := r.tracks()[what]; !ok || got != track {
			t.Errorf("%s is on track %q, want %q", what, got, track)
		}
	}
	if s, e := r.kinds[rawformat.KindTrackStart], r.kinds[rawformat.KindTrackEnd]; s != 3 || e != 3 {
		t.Errorf("%d starts and %d ends of tracks, want 3 each", s, e)
	}
}

// tracks maps markers, by event and last number, to the names of their tracks.
func (r *recording) tracks() map[string]string {
	names, events := map[uint64]string{0: ""}, map[uint64]string{}
	for name, id := range r.events {
		events[id] = name
	}
	for _, d := range r.Dicts {
		for _, rec := range d.All(nil) {
			if c := rec.Fields(); rec.Kind == rawformat.KindDefTrack {
				id := c.Uint("id")
				names[id] = string(c.Text("name"))
			}
		}
	}
	found := map[string]string{}
	track := uint64(0)
	for blocks := r.Blocks(func(chunks.Problem) {}); blocks.Next(); {
		b := blocks.Block()
		c := b.Fields
		switch b.Kind {
		case rawformat.KindSync:
			c.Uint("index")
			c.Uint("epoch")
			c.Uint("time")
			c.Uint("goroutine")
			track = c.Uint("track")
		case rawformat.KindContext:
			c.Uint("goroutine")
			track = c.Uint("track")
		case rawformat.KindInstant:
			key := events[c.Uint("event")]
			c.Uint("stack")
			c.Sint("time")
			for _, a := range c.Args(nil, "args") {
				if a.Wire != rawformat.WireText && (key == "numbered" || key == "two") && a.Num > 0 {
					key = fmt.Sprint(key[:min(len(key), 8)], " ", a.Num)
				}
			}
			found[key] = names[track]
		}
	}
	return found
}

// A program that gets more processors than it began with goes on recording, in shards that the
// new processors share: each marker is found, or counted as lost.
func TestGrowing(t *testing.T) {
	const goroutines, each = 32, 2000
	rec := begin(t, recorder.Options{Limit: 32 << 20, ChunkSize: 64 << 10})
	await(t, "room for all of them, since a full ring would discard the first", func() bool { return rec.Stats().Held >= 4<<20 })
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for i := range each {
				numbered.Mark(g, i)
				if i%200 == 0 { // the keeper needs time, too
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
	if found+lost != goroutines*each || busy > found/4 { // how many find no chunk depends on when the keeper runs
		t.Errorf("%d markers found, %d lost, %d of them for want of a shard; want %d together, and a shard for most", found, lost, busy, goroutines*each)
	}
}

// hostChild does what programs do, in many goroutines, for a while.
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

// The race detector reports nothing in a program that records. The child is built with it if
// this package's tests are.
func TestRaceHost(t *testing.T) {
	cmd := child("host", []string{t.TempDir()}, "GORACE=halt_on_error=1 exitcode=66")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if out, err := cmd.Output(); err != nil || stderr.Len() > 0 {
		t.Fatalf("%v, output %q, stderr:\n%s", err, out, strings.TrimSpace(stderr.String()))
	}
}
