package totals

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"gprof/stream"
)

// sumKey is what rows are added up by.
type sumKey struct {
	series stream.Series
	at     stream.Time
	stack  stream.StackID
	owner  stream.Owner
}

// Sums are those of a map, however they are delivered: with several owners of a stack, of more of them than a part has
// room for, spans, and buckets of time.
func TestSums(t *testing.T) {
	for _, kind := range []stream.Kind{stream.Samples, stream.Waits, stream.Allocations, stream.Measurements} {
		for _, aside := range []bool{false, true} {
			for _, every := range []stream.Time{0, 1000} {
				t.Run(fmt.Sprint(kind, aside, every), func(t *testing.T) { testSums(t, kind, aside, every) })
			}
		}
	}
}

func testSums(t *testing.T, kind stream.Kind, aside bool, every stream.Time) {
	const tracks, rows, stacks, owners = 2, 10_000, 300, 500 // 150,000 stacks and owners
	tables := stream.Tables{Processes: []stream.Process{{}}}
	for i := range stacks {
		tables.Stacks.Intern(0, stream.FrameID(i))
	}
	r := rand.New(rand.NewPCG(uint64(kind), uint64(every)))
	got, want := map[sumKey]Total{}, map[sumKey]Total{}
	batches, parts := 1, 0
	if kind == stream.Samples && every == 0 { // more than fit a part, which ends by time otherwise
		batches = 10
	}
	add := func(to map[sumKey]Total, k sumKey, one Total) {
		sum := to[k]
		sum.Stack, sum.Owner = one.Stack, one.Owner
		sum.Weight, sum.CPU, sum.Wall, sum.Value = sum.Weight+one.Weight, sum.CPU+one.CPU, sum.Wall+one.Wall, sum.Value+one.Value
		sum.Allocated.add(one.Allocated)
		sum.Freed.add(one.Freed)
		to[k] = sum
	}
	totals := New(&tables, func(p *Part) {
		parts++
		seen := map[sumKey]bool{}
		for total := range p.All() {
			k := sumKey{stream.Series{Process: p.Process, Track: p.Track, Kind: p.Kind, Counter: p.Measure}, p.At, total.Stack, total.Owner}
			if seen[k] {
				t.Errorf("%+v is twice in a part", k)
			}
			seen[k] = true
			add(got, k, *total)
		}
	})
	totals.ByWho, totals.Spans, totals.Heap, totals.Waits, totals.Measurements = true, true, true, true, true
	totals.Aside, totals.Every = aside, every
	for track := range tracks {
		at := stream.Time(0)
		series := stream.Series{Process: 1, Track: stream.TrackID(track), Kind: kind, Counter: stream.CounterID(track)}
		for range batches {
			var b stream.Batch
			b.Reset(series, 0)
			for range rows {
				at += stream.Time(r.IntN(3))
				n := r.Int64N(owners)
				one := Total{Stack: stream.StackID(r.IntN(stacks + 1)), Owner: stream.Owner{Goroutine: n, Labels: stream.LabelsID(n % 5)}}
				if n%2 == 0 {
					one.Owner.Span = stream.Span{Trace: [2]uint64{1, uint64(n)}, ID: uint64(n % 3)}
				}
				k := sumKey{series: series, stack: one.Stack, owner: one.Owner}
				if every > 0 {
					k.at = at / every * every
				}
				appendRow(&b, kind, at, &one, r)
				add(want, k, one)
			}
			totals.Add(&b)
		}
	}
	totals.Finish()
	if all := int64(tracks * batches * rows); totals.Rows != all {
		t.Errorf("%d rows, want %d", totals.Rows, all)
	}
	if !maps.Equal(got, want) {
		t.Errorf("%d sums, want %d, of which some differ", len(got), len(want))
	}
	if (kind == stream.Samples || every > 0) && parts <= tracks {
		t.Errorf("%d parts", parts)
	}
}

func (m *Memory) add(n Memory) { m.Objects, m.Bytes = m.Objects+n.Objects, m.Bytes+n.Bytes }

// appendRow appends a row of a kind, and sets its values in one.
func appendRow(b *stream.Batch, kind stream.Kind, at stream.Time, one *Total, r *rand.Rand) {
	b.Time = append(b.Time, at)
	b.Stack = append(b.Stack, one.Stack)
	b.AppendOwner(one.Owner)
	switch n := r.Int64N(100); kind {
	case stream.Samples:
		one.Weight, one.CPU = n, n*10
		b.Weight, b.CPU = append(b.Weight, one.Weight), append(b.CPU, one.CPU)
	case stream.Waits:
		one.Wall = n
		b.Value = append(b.Value, n)
	case stream.Measurements:
		one.Value = 50 - n
		b.Value = append(b.Value, one.Value)
	case stream.Allocations:
		one.Allocated = Memory{n, 8 * n}
		if n%2 == 0 {
			one.Allocated, one.Freed = Memory{}, one.Allocated
		}
		b.Value, b.Number = append(b.Value, one.Allocated.Bytes-one.Freed.Bytes), append(b.Number, n)
	}
}

// Numbers of rows begin anew before they are too large.
func TestLastBase(t *testing.T) {
	x, p := newIndex(2), new(Part)
	k := key{stack: 1}
	_, at := x.find(p, k)
	p.push(k)
	*at = x.base + 1
	if n, _ := x.find(p, k); n != 1 {
		t.Fatalf("the row has the number %d", n)
	}
	p.reset()
	x.forget(lastBase + 1)
	if n, _ := x.find(p, k); n != 0 || x.base != 0 {
		t.Errorf("the row of an earlier part is %d, from %d on", n, x.base)
	}
}
