package gecko

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// slabbed is a JsonSlabs file whose root is the first slab.
func slabbed(list ...any) []byte {
	out := []byte(slabs)
	for _, n := range []uint32{1, uint32(len(list)), 0} {
		out = binary.LittleEndian.AppendUint32(out, n)
	}
	var data []byte
	begin := (slabHeader + len(list)*slabEntry + 7) / 8 * 8
	for _, s := range list {
		typ, raw := slabOf(s)
		for _, n := range []uint32{typ, uint32(begin + len(data)), uint32(len(raw))} {
			out = binary.LittleEndian.AppendUint32(out, n)
		}
		data = append(data, raw...)
		data = append(data, make([]byte, -len(data)&7)...)
	}
	return append(append(out, make([]byte, begin-len(out))...), data...)
}

func slabOf(s any) (uint32, []byte) {
	types := map[string]uint32{"[]int8": 0, "[]uint8": 1, "[]int16": 2, "[]uint16": 3, "[]int32": 4, "[]uint32": 5, "[]float32": 6, "[]float64": 7, "[]int64": 8, "[]uint64": 9}
	if text, ok := s.(string); ok {
		return slabJSON, []byte(text)
	}
	var raw bytes.Buffer
	if err := binary.Write(&raw, binary.LittleEndian, s); err != nil {
		panic(err)
	}
	return types[typeName(s)], raw.Bytes()
}

func typeName(s any) string {
	switch s.(type) {
	case []int8:
		return "[]int8"
	case []uint8:
		return "[]uint8"
	case []int16:
		return "[]int16"
	case []uint16:
		return "[]uint16"
	case []int32:
		return "[]int32"
	case []uint32:
		return "[]uint32"
	case []float32:
		return "[]float32"
	case []int64:
		return "[]int64"
	case []uint64:
		return "[]uint64"
	}
	return "[]float64"
}

func unslab(data []byte) ([]byte, error) {
	r, err := Unslab(bytes.NewReader(data), "")
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(r)
	return text, errors.Join(err, r.Close())
}

// Each type of slabs stands where it is referred to.
func TestUnslab(t *testing.T) {
	file := slabbed(`{"a":{"$s":1},"b":"{\"$s\":1}","c":[{"$s":2},{"$s":3}],"d":{"$S":1},"e":{"$s":-1},"more":[{"$s":4},{"$s":5},{"$s":6},{"$s":7},{"$s":8},{"$s":9},{"$s":10}]}`,
		[]float64{0.5, -1e300, math.Inf(1), math.NaN()}, `{"inner":{"$s":11}}`, []int8{-128}, []uint8{255}, []int16{-3}, []uint16{65535}, []int32{-7, 7},
		[]uint32{math.MaxUint32}, []int64{math.MinInt64}, []uint64{math.MaxUint64}, []float32{0.1})
	got, err := unslab(file)
	const want = `{"a":[0.5,-1e+300,null,null],"b":"{\"$s\":1}","c":[{"inner":[0.1]},[-128]],"d":{"$S":1},"e":{"$s":-1},` +
		`"more":[[255],[-3],[65535],[-7,7],[4294967295],[-9223372036854775808],[18446744073709551615]]}`
	if diff := cmp.Diff(want, string(got)); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for n := range len(file) - 8 { // the last slab is cut, or what lies before it
		if _, err := unslab(file[:n]); !errors.Is(err, ErrSlabs) {
			t.Fatalf("cut at %d: %v", n, err)
		}
	}
}

// A slab that is used twice would make text without end, those that lie in one another
// make much.
func TestUnslabBomb(t *testing.T) {
	other := slabbed(`1`)
	other[len(slabs)] = 2 // version
	for _, file := range [][]byte{other, slabbed(`[{"$s":0}]`), slabbed(`[{"$s":1},{"$s":1}]`, `1`), slabbed(`[{"$s":7}]`), slabbed(),
		bytes.Replace(slabbed(`[{"$s":1},{"$s":2}]`, make([]uint8, 500), make([]uint8, 500)), []byte{0xf4, 1, 0, 0}, []byte{0xe8, 3, 0, 0}, 1)} { // one is as long as both
		if text, err := unslab(file); !errors.Is(err, ErrSlabs) {
			t.Errorf("%q, %v", text, err)
		}
	}
	for depth, want := range map[int]error{maxSlabDepth: nil, maxSlabDepth + 1: ErrSlabs} { // all of them are open until the last one is written
		if text, err := unslab(nested(depth)); !errors.Is(err, want) {
			t.Errorf("%d slabs in one another: %q, %v", depth, text, err)
		}
	}
	var out bytes.Buffer
	r, err := Unslab(bytes.NewReader(slabbed(`[1,2,3]`)), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(&out, r, 2); err != nil || out.String() != "[1" || r.Close() != nil {
		t.Errorf("closed early: %q, %v", out.String(), err)
	}
}

// nested is a file of slabs each of which stands in the one before it.
func nested(depth int) []byte {
	list := make([]any, depth, depth+1)
	for i := range list {
		list[i] = fmt.Sprintf(`{"$s":%d}`, i+1)
	}
	return slabbed(append(list, `1`)...)
}

func FuzzUnslab(f *testing.F) {
	f.Add(slabbed(`{"a":{"$s":1}}`, []float64{1, 2}))
	f.Add(slabbed(`[{"$s":1},{"$s":2}]`, `"x"`, []uint8{1}))
	f.Fuzz(func(t *testing.T, data []byte) {
		if text, err := unslab(data); err == nil && len(text) > 8*len(data) { // 8 bytes are 25 characters at most
			t.Errorf("%d bytes of %d", len(text), len(data))
		}
	})
}
