package pack

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// decodeRows decodes n rows from data, nil if they are invalid or if there is more.
func decodeRows(data []byte, n int) []Row {
	r := NewReader(append(slices.Clone(data), make([]byte, Slack)...)[:len(data)])
	packed := r.Rows(n)
	if r.Bad() || r.Left() > 0 {
		return nil
	}
	rows := make([]Row, n)
	for i := range rows {
		packed.Read(i, &rows[i])
	}
	return rows
}

// Rows of numbers of any size, alike or far apart, come back, after what was there before.
func TestRows(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		rows := make([]Row, 1+random.IntN(MaxRows))
		base, bits := Row{}, Row{}
		for k := range base {
			base[k], bits[k] = random.Uint64(), random.Uint64N(65)
		}
		for i := range rows {
			for k := range rows[i] {
				rows[i][k] = base[k] + random.Uint64()>>1>>(63-min(63, bits[k]))
			}
		}
		data := AppendRows([]byte("before"), rows)
		if got := decodeRows(data[len("before"):], len(rows)); !slices.Equal(got, rows) {
			t.Fatalf("%d rows of %v bits are not what they were", len(rows), bits)
		}
	}
	far := []Row{{0, 1, math.MaxUint64, 1 << 63}, {math.MaxUint64, 0, 0, 1<<63 - 1}, {1 << 63, 0, 1, 0}}
	if got := decodeRows(AppendRows(nil, far), len(far)); !slices.Equal(got, far) {
		t.Errorf("%v became %v", far, got)
	}
}

// Rows that are alike take no more bytes than one.
func TestRowsAlike(t *testing.T) {
	one := Row{1 << 40, 7, 1 << 20}
	if a, b := len(AppendRows(nil, []Row{one})), len(AppendRows(nil, slices.Repeat([]Row{one}, 100))); a != b {
		t.Errorf("100 rows take %d bytes, one takes %d", b, a)
	}
}

// Data that was cut gives an error, at any place.
func TestRowsCut(t *testing.T) {
	rows := []Row{{1, 2, 3, 1 << 50}, {5, 1 << 30, 3, 2}, {6, 7, 1 << 63, 9}}
	data := AppendRows(nil, rows)
	for n := range data {
		if got := decodeRows(data[:n], len(rows)); got != nil {
			t.Errorf("%d of %d bytes give %v", n, len(data), got)
		}
	}
}

func FuzzRows(f *testing.F) {
	f.Add(AppendRows(nil, []Row{{1, 2, 3}, {1 << 40, 5, 6}}), 2)
	f.Fuzz(func(t *testing.T, data []byte, n int) {
		n = 1 + int(uint(n)%MaxRows)
		rows := decodeRows(data, n)
		if rows == nil {
			return
		}
		if again := decodeRows(AppendRows(nil, rows), n); !slices.Equal(again, rows) {
			t.Errorf("%v became %v", rows, again)
		}
	})
}
