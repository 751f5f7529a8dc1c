//go:build !gprof_portable

package ingest

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gprof/recorder"
	"gprof/stream"
	"gprof/stream/filter"
)

var busy = recorder.NewEvent("busy")

// A filter by a marker tells samples of its own goroutine from those of others
// in the same function at the same time, in a recording of a real program.
func TestDuringOwnGoroutine(t *testing.T) {
	rec, err := recorder.Start(recorder.Options{Dir: t.TempDir(), Limit: 4 << 20, CounterHz: -1})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	var seen atomic.Bool
	for i := range 2 {
		all.Go(func() { spin(i == 0, &seen) })
	}
	for deadline := time.Now().Add(time.Minute); !seen.Load(); time.Sleep(20 * time.Millisecond) { // a busy machine gives them time late
		_, by := samplesBy(t, rec.Session(), nil)
		seen.Store(len(by) == 2 || time.Now().After(deadline))
	}
	all.Wait()
	if err := rec.Stop(); err != nil {
		t.Fatal(err)
	}
	_, everybody := samplesBy(t, rec.Session(), nil)
	if len(everybody) != 2 {
		t.Fatalf("samples of goroutines %v, want two", everybody)
	}
	query, err := filter.ParseQuery("busy")
	if err != nil {
		t.Fatal(err)
	}
	marker, own := samplesBy(t, rec.Session(), []filter.Query{query})
	if len(own) != 1 || own[marker] == 0 || marker == 0 {
		t.Errorf("samples of goroutines %v during the marker of %d", own, marker)
	}
	if own[marker] > everybody[marker] {
		t.Errorf("%d samples during the marker, %d in all", own[marker], everybody[marker])
	}
}

// spin takes time of a processor until it is told to end, all of it in a marker if that is wanted.
func spin(marked bool, end *atomic.Bool) (sum int) {
	if marked {
		defer busy.Begin().End()
	}
	for !end.Load() {
		sum++
	}
	return sum
}

// samplesBy counts the samples in spin by their goroutine, and tells that of the
// marker.
func samplesBy(t *testing.T, session string, during []filter.Query) (marker int64, by map[int64]int) {
	t.Helper()
	src, _, err := Open([]string{session}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if during != nil {
		src = filter.During(src, during, filter.DuringOptions{SpillDir: t.TempDir()})
	}
	tables, by := src.Tables(), map[int64]int{}
	for {
		var b stream.Batch
		if err := src.Next(&b); errors.Is(err, io.EOF) {
			return marker, by
		} else if err != nil {
			t.Fatal(err)
		}
		for i := range b.Time {
			switch k := b.Series.Kind; {
			case k == stream.Markers && tables.Event(b.Series.Event).Name == "busy":
				marker = b.Owner(i).Goroutine
			case k == stream.Samples && passes(tables, b.Stack[i], "gprof/ingest.spin"):
				by[b.Owner(i).Goroutine]++
			}
		}
	}
}
