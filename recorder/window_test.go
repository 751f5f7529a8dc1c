package recorder_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"

	"gprof/chunks"
	"gprof/rawformat"
	"gprof/recorder"
)

// burn is the function that samples show. It does so many units of work, of about a millisecond
// each, however busy the machine is.
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

// The samples of a window add up to what the window's marker says, and most of them show the
// function that used the CPU, on its track.
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
	// The race detector's C code has no Go stack, so many samples show no function.
	for stack, n := range others {
		if strings.Contains(stack, ".") && !strings.Contains(stack, "__tsan") && n > burning {
			t.Errorf("%d samples in burn, %d in %s", burning, n, stack)
		}
	}
}

// The program's own profile has precedence over ours.
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

// Samples of CPU profile windows have the labels of the program; markers have none, and the
// recorder's own labels are left out.
func TestWindowLabels(t *testing.T) {
	rec := begin(t, recorder.Options{CPU: recorder.CPUPprof})
	labels := pprof.Labels("route", "/cart", "customer", "anna")
	_, work := recorder.NewTrack(t.Context(), "labelled")
	pprof.Do(t.Context(), labels, func(context.Context) {
		for range 25 {
			burn(20)
			one.Mark(1)
		}
	})
	work.End()
	r := finish(t, rec)
	sets := r.labelSets()
	var labelled, markers int
	current := uint64(0)
	for blocks := r.Blocks(nil); blocks.Next(); {
		switch b := blocks.Block(); b.Kind {
		case rawformat.KindSync:
			current = 0
		case rawformat.KindLabels:
			current = b.Fields.Uint("labels")
		case rawformat.KindInstant:
			markers++
			if current != 0 {
				t.Fatalf("a marker has the labels of samples: %q", sets[current])
			}
		case rawformat.KindSample:
			if slices.Equal(sets[current], []string{"customer=anna", "route=/cart"}) {
				labelled++
			} else if current != 0 {
				t.Errorf("a sample has the labels %q", sets[current])
			}
		}
	}
	if labelled == 0 || markers == 0 {
		t.Errorf("%d samples with labels, %d markers", labelled, markers)
	}
}

// labelSets returns the label sets of the dictionary, each sorted.
func (r *recording) labelSets() map[uint64][]string {
	texts, sets := map[uint64]string{}, map[uint64][]string{}
	for _, rec := range r.Dicts[0].All(nil) {
		c := rec.Fields()
		switch rec.Kind {
		case rawformat.KindDefString:
			texts[c.Uint("id")] = string(c.Text("text"))
		case rawformat.KindDefLabelSet:
			id, parent, key, value := c.Uint("id"), c.Uint("parent"), c.Uint("key"), c.Uint("value")
			sets[id] = append(slices.Clone(sets[parent]), texts[key]+"="+texts[value])
			slices.Sort(sets[id])
		}
	}
	return sets
}
