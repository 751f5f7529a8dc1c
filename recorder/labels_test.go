package recorder_test

import (
	"context"
	"runtime/pprof"
	"slices"
	"testing"

	"gprof/rawformat"
	"gprof/recorder"
)

// Samples of CPU profile windows bear the labels of the program, markers beside
// them none, and what the recorder labels itself is no label.
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

// labelSets are those of the dictionary, sorted.
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
