package stream

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"gprof/stream/internal/pack"
	"gprof/stream/internal/runs"
)

// sampleRows is a batch of n samples, a millisecond apart as a recorder takes
// them, some of them at odd times.
func sampleRows(seed uint64, n int) *Batch {
	r := rand.New(rand.NewPCG(seed, 1))
	b := &Batch{}
	b.Reset(Series{Process: 1, Track: 1, Kind: Samples}, 0)
	at, index := Time(1_795_000_000_000_000_000), uint64(r.Uint32())
	for range n {
		at += Time(1_000_000 + r.IntN(100_000))
		index += uint64(10 + r.IntN(200))
		b.Time, b.Index = append(b.Time, at), append(b.Index, index)
		b.Stack, b.Weight = append(b.Stack, StackID(r.IntN(100_000))), append(b.Weight, 1)
		b.CPU = append(b.CPU, int64(900_000+r.IntN(200_000)))
	}
	return b
}

// ownedRows is sampleRows of which some say whose they are.
func ownedRows(seed uint64, n int) *Batch {
	b := sampleRows(seed, n)
	for i := range n {
		b.Thread, b.Goroutine = append(b.Thread, int64(i%7)), append(b.Goroutine, int64(max(i-n/2, 0)))
		b.Labels = append(b.Labels, LabelsID(i/(n-1)))
	}
	return b
}

// markerRows is a batch of n markers with one argument of each type, and one
// of any.
func markerRows(seed uint64, n int) *Batch {
	r := rand.New(rand.NewPCG(seed, 2))
	b := &Batch{}
	b.Reset(Series{Process: 1, Track: 1, Kind: Markers, Event: 1}, 5)
	texts := []string{"", "a", "some text", string(make([]byte, 300))}
	for i := range n {
		b.Time, b.Index = append(b.Time, Time(i/3)-5), append(b.Index, uint64(i))
		b.Stack, b.Phase = append(b.Stack, StackID(i%5)), append(b.Phase, Phase(i%4))
		b.Duration = append(b.Duration, int64(r.Uint64()))
		b.Args[0].AppendBits(Int, r.Uint64())
		b.Args[1].AppendBits(Uint, r.Uint64())
		b.Args[2].AppendBits(Float, math.Float64bits(r.Float64()))
		b.Args[3].AppendText([]byte(texts[i%4]))
		switch r.IntN(3) {
		case 0:
			b.Args[4].AppendNull()
		case 1:
			b.Args[4].AppendText([]byte(texts[i%4]))
		default:
			b.Args[4].AppendBits(Float, r.Uint64())
		}
	}
	return b
}

// valueRows is a batch of n counter values at the ends of their range.
func valueRows(n int) *Batch {
	b := &Batch{}
	b.Reset(Series{Process: 1, Kind: Counts, Counter: 1}, 0)
	for i := range n {
		b.Time, b.Index = append(b.Time, math.MinInt64+Time(i)), append(b.Index, math.MaxUint64-uint64(i))
		b.Value, b.Number = append(b.Value, []int64{math.MinInt64, math.MaxInt64, 0}[i%3]), append(b.Number, int64(-i))
	}
	b.Time[n-1] = math.MaxInt64 // the largest difference there is
	return b
}

// encode makes a block of all rows of b, decode reads one.
func encode(b *Batch) []byte { return appendBlock(nil, new(pack.Encoder), b, selection{to: b.Len()}) }

func decode(b *Batch, block []byte) error {
	return readBlock(b, append(slices.Clone(block), make([]byte, pack.Slack)...)[:len(block)])
}

// like returns an empty batch for rows of the same series.
func like(b *Batch) *Batch {
	out := &Batch{}
	out.Reset(b.Series, len(b.Args))
	return out
}

func TestBlockRoundTrip(t *testing.T) {
	for _, want := range []*Batch{sampleRows(1, blockRows), markerRows(1, 100), valueRows(7), sampleRows(1, 1)} {
		got := like(want)
		if err := decode(got, encode(want)); err != nil {
			t.Fatalf("%v: %v", want.Series.Kind, err)
		}
		if !sameRows(got, want) {
			t.Errorf("%v are not what they were", want.Series.Kind)
		}
	}
}

// sameRows compares rows, not where their texts lie.
func sameRows(a, b *Batch) bool {
	x, y := like(a), like(b)
	x.AppendRows(a, 0, a.Len())
	y.AppendRows(b, 0, b.Len())
	return reflect.DeepEqual(x, y)
}

// A part of a batch makes a block as a whole one does.
func TestBlockPart(t *testing.T) {
	all := markerRows(3, 60)
	want, got := like(all), like(all)
	want.AppendRows(all, 17, 45)
	if err := decode(got, appendBlock(nil, new(pack.Encoder), all, selection{from: 17, to: 45})); err != nil || !sameRows(got, want) {
		t.Errorf("a part is not what it was (%v)", err)
	}
}

func TestBlockCut(t *testing.T) {
	for _, b := range []*Batch{sampleRows(1, 20), markerRows(1, 20), valueRows(5)} {
		block := encode(b)
		for n := range block {
			if err := decode(like(b), block[:n]); !errors.Is(err, runs.ErrDamaged) {
				t.Fatalf("%v, %d of %d bytes: got %v, want %v", b.Series.Kind, n, len(block), err, runs.ErrDamaged)
			}
		}
		if err := decode(like(b), append(block, 0)); !errors.Is(err, runs.ErrDamaged) {
			t.Errorf("%v, a byte too many: got %v, want %v", b.Series.Kind, err, runs.ErrDamaged)
		}
	}
}

func TestSampleBytes(t *testing.T) {
	b := sampleRows(1, blockRows)
	if n := float64(len(encode(b))) / blockRows; n > 13 {
		t.Errorf("a sample takes %.1f bytes, want about 12", n)
	}
}

func FuzzBlock(f *testing.F) {
	for _, b := range []*Batch{sampleRows(1, 3), markerRows(1, 4), valueRows(2)} {
		f.Add(byte(b.Series.Kind), byte(len(b.Args)), encode(b))
	}
	f.Fuzz(func(t *testing.T, kind, args byte, data []byte) {
		b := &Batch{}
		b.Reset(Series{Kind: Kind(kind % byte(numKinds))}, int(args%20))
		if err := decode(b, data); err != nil {
			if !errors.Is(err, runs.ErrDamaged) {
				t.Error(err)
			}
			return
		}
		if b.Series.Kind.Columns()&UsesArgs == 0 {
			b.Args = nil
		}
		again := like(b)
		if err := decode(again, encode(b)); err != nil || !sameRows(again, b) {
			t.Errorf("encoded and decoded again: %v, %d rows, want %d", err, again.Len(), b.Len())
		}
	})
}
