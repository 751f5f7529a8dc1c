package pack

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// columns calls f with columns of values of every width, about any number.
func columns(f func(column []int64)) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		column, base, bits := make([]int64, 1+random.IntN(MaxRows)), random.Int64(), random.IntN(65)
		for i := range column {
			column[i] = base + int64(random.Uint64()>>1>>(63-min(63, bits)))
		}
		f(column)
	}
}

func readerOf(data []byte) Reader {
	return NewReader(append(slices.Clone(data), make([]byte, Slack)...)[:len(data)])
}

// A column comes back as a whole, from any row on, and with each row in any place.
func TestColumns(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	columns(func(column []int64) {
		n := len(column)
		r := readerOf(Append(nil, column))
		if got := Read([]int64{7}, &r, n); got[0] != 7 || !slices.Equal(got[1:], column) || r.Bad() || r.Left() > 0 {
			t.Fatalf("%v became %v", column, got)
		}
		r = readerOf(Append(nil, column))
		v, from := r.Values(n), random.IntN(n)
		rest := make([]int64, n-from)
		if Decode(rest, &v, from); !slices.Equal(rest, column[from:]) {
			t.Fatalf("from row %d %v became %v", from, column[from:], rest)
		}
		places, placed := make([]uint16, n-from), make([]int64, MaxRows)
		for i, at := range random.Perm(MaxRows)[:n-from] {
			places[i] = uint16(at)
		}
		Place(placed, &v, from, places)
		for i, at := range places {
			if placed[at] != column[from+i] {
				t.Fatalf("row %d is %d in its place, want %d", from+i, placed[at], column[from+i])
			}
		}
	})
}

// So do rows in another order, in both encodings.
func TestGather(t *testing.T) {
	random, e := rand.New(rand.NewPCG(7, 8)), new(Encoder)
	columns(func(column []int64) {
		rows, want := make([]int32, 1+random.IntN(len(column))), []int64{}
		for i, row := range random.Perm(len(column))[:len(rows)] {
			rows[i] = int32(row)
			want = append(want, column[row])
		}
		r := readerOf(Append(nil, Gather(e, column, rows)))
		if got := Read([]int64{}, &r, len(rows)); !slices.Equal(got, want) || r.Bad() || r.Left() > 0 {
			t.Fatalf("%v became %v", want, got)
		}
		r = readerOf(AppendDelta(nil, e, Gather(e, column, rows)))
		if got := ReadDelta([]int64{}, &r, len(rows)); !slices.Equal(got, want) || r.Bad() || r.Left() > 0 {
			t.Fatalf("as differences, %v became %v", want, got)
		}
	})
}

// Of a column that was cut nothing is read.
func TestColumnCut(t *testing.T) {
	data := Append(nil, []int64{1, 1 << 20, 5, -3})
	for n := range len(data) {
		r := readerOf(data[:n])
		if v := r.Values(4); !r.Bad() || v.data != nil {
			t.Errorf("after %d of %d bytes there are values", n, len(data))
		}
	}
}
