package recorder_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io"
	"runtime/pprof"
	"strings"
	"testing"

	"gprof/chunks"
	"gprof/rawformat"
	"gprof/recorder"
)

// burn is what samples show: so much work, of about a millisecond each, however busy
// the machine is.
//
//go:noinline
func burn(work int) (sum [32]byte) {
	for range work * 10_000 {
		sum = sha256.Sum256(sum[:])
	}
	return sum
}

type sample struct {
	track, stack, weight, cpu, window uint64
}

func (r *recording) samples() (found []sample) {
	for blocks := r.Blocks(func(chunks.Problem) {}); blocks.Next(); {
		if b := blocks.Block(); b.Kind == rawformat.KindSample {
			c := b.Fields
			c.Sint("time")
			c.Uint("thread")
			c.Uint("goroutine")
			found = append(found, sample{c.Uint("track"), c.Uint("stack"), c.Uint("weight"), c.Uint("cpu"), c.Uint("window")})
		}
	}
	return found
}

// The samples of a window add up to what the window's marker says, and most of
// them show the function that burnt the CPU, on its track.
func TestCPUWindows(t *testing.T) {
	rec := begin(t, recorder.Options{CPU: recorder.CPUPprof})
	_, work := recorder.NewTrack(context.Background(), "burner")
	burn(1500)
	work.End()
	r := finish(t, rec)
	windows := r.of("cpu window")
	if len(windows) == 0 {
		t.Fatal("no window, want a whole one or the one that Stop ended")
	}
	lengths := map[uint64]bool{}
	var want, weight, cpu, onTrack, burning uint64
	for _, w := range windows {
		want += w.args[0].Num
		cpu -= w.args[1].Num
		lengths[w.dur/1e6] = true
	}
	dict, others := r.stackDict(t), map[string]uint64{}
	for _, s := range r.samples() {
		if s.weight != 1 {
			t.Errorf("a sample of weight %d, want 1", s.weight)
		}
		weight += s.weight
		cpu += s.cpu - 1
		if s.track != 0 {
			onTrack += s.weight
		}
		if stack := dict.names(t, markerStack{id: s.stack - 1}); strings.Contains(strings.Join(stack, " "), ".burn ") {
			burning += s.weight
		} else {
			others[strings.Join(stack, " ")] += s.weight
		}
		if ms := s.window / 1e6; !lengths[ms] && !lengths[ms-1] && !lengths[ms+1] {
			t.Errorf("a sample's window is %d ms, want one of %v", ms, lengths)
		}
	}
	if weight != want || cpu != 0 {
		t.Errorf("%d samples, windows say %d; CPU differs by %d", weight, want, int64(cpu))
	}
	if weight == 0 || onTrack < burning || !raceEnabled && burning*2 <= weight {
		t.Errorf("%d samples, %d on the track, %d in burn", weight, onTrack, burning)
	}
	// The race detector's C code has no Go stack: many samples show no function.
	for stack, n := range others {
		if strings.Contains(stack, ".") && !strings.Contains(stack, "__tsan") && n > burning {
			t.Errorf("%d samples in burn, %d in %s", burning, n, stack)
		}
	}
}

// The program's own profile goes before ours.
func TestHostProfile(t *testing.T) {
	if err := pprof.StartCPUProfile(io.Discard); err != nil {
		t.Fatal(err)
	}
	rec := begin(t, recorder.Options{CPU: recorder.CPUPprof})
	await(t, "a window that can't be", func() bool {
		burn(10)
		return read(t, rec.Dir(), chunks.Unproven, chunks.Stale).kinds[rawformat.KindLog] > 0
	})
	r := finish(t, rec)
	pprof.StopCPUProfile()
	if n := len(r.samples()); n != 0 {
		t.Errorf("%d samples, want none", n)
	}
	if r.lost() == 0 || r.kinds[rawformat.KindLog] != 1 {
		t.Errorf("%d windows lost, %d log lines, want some and one", r.lost(), r.kinds[rawformat.KindLog])
	}
	var b bytes.Buffer
	if err := pprof.StartCPUProfile(&b); err != nil {
		t.Errorf("after Stop: %v", err)
	}
	pprof.StopCPUProfile()
}
