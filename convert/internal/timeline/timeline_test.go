package timeline

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"gprof/stream"
	"gprof/stream/streamtest"
)

// Numbers that several have, or none, are replaced, and the rest stay.
func TestNumbers(t *testing.T) {
	b := streamtest.NewBuilder()
	one := b.Process(stream.Process{Instance: 1, Pid: 1, Name: "one"})
	two := b.Process(stream.Process{Instance: 2, Pid: 1, Name: "two"})
	three := b.Process(stream.Process{Instance: 3, Name: "three"})
	one.TrackOf(stream.Track{Name: "a", Thread: 70})
	two.TrackOf(stream.Track{Name: "b", Thread: 70})
	one.TrackOf(stream.Track{Name: "c", Thread: 1})
	three.TrackOf(stream.Track{Name: "d", Thread: madeUp + 1})
	n := Number(b.Tables)
	seen := map[int64]bool{}
	for _, pid := range n.Pids[1:] {
		if seen[pid] || pid == 0 {
			t.Errorf("pids are %v", n.Pids[1:])
		}
		seen[pid] = true
	}
	if !seen[1] {
		t.Errorf("no process has its pid: %v", n.Pids[1:])
	}
	tids := slices.Clone(n.Tids[1:])
	for range 3 {
		tids = append(tids, n.Another())
	}
	kept := 0
	slices.Sort(tids)
	for i, tid := range tids {
		if i > 0 && tids[i-1] == tid || tid <= 0 {
			t.Errorf("tids are %v", tids)
		}
		if tid == 70 || tid == 1 || tid == madeUp+1 {
			kept++
		}
	}
	if kept != 3 {
		t.Errorf("%d tids stay as they are, of %v", kept, tids)
	}
}

// A field that is called as something of ours keeps its name.
func TestOwnName(t *testing.T) {
	e := &stream.Event{Fields: []stream.EventField{{Name: "goroutine"}, {Name: "goroutine'"}}}
	if got := OwnName(e, "goroutine"); got != "goroutine''" {
		t.Error(got)
	}
	if got := OwnName(e, "thread"); got != "thread" {
		t.Error(got)
	}
}

// Marks of many events, larger than what is held in memory, come in the order of time, each once and whole.
func TestMerge(t *testing.T) {
	m := NewMarks(t.TempDir())
	defer m.Close()
	random := rand.New(rand.NewSource(1))
	var want []string
	for event := range 50 {
		at := stream.Time(0)
		for range 400 {
			at += stream.Time(random.Intn(50))
			m.Begin(stream.Series{Kind: stream.Markers, Event: stream.EventID(event + 1)})
			body := fmt.Sprint(event, " ", at, " ", string(make([]byte, random.Intn(300))))
			m.Add(&Mark{Start: at, End: at, Body: []byte(body)})
			want = append(want, body)
		}
	}
	var got []string
	last := stream.Time(0)
	m.Merge(func(k *Mark) {
		if k.Start < last {
			t.Fatalf("%d comes after %d", k.Start, last)
		}
		last = k.Start
		got = append(got, string(k.Body))
	})
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) || m.Err() != nil {
		t.Errorf("%d marks, want %d: %v", len(got), len(want), m.Err())
	}
}
