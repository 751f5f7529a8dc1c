package callframe

import (
	"encoding/binary"
	"slices"
	"testing"
)

// goProgram is a table of Go's of functions by name, each of 0x100 bytes from goBegin on, with frames of these
// sizes.
func goProgram(sizes map[string]byte) *goTable {
	var names, pcs, records, index []byte
	pcs = append(pcs, 0)
	const fixed = 44
	order := []string{"main.main", "runtime.cgocall", "runtime.cgocallback", "runtime.systemstack_switch"}
	for i, name := range order {
		at := 8*len(order) + 4 + i*fixed
		index = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(index, uint32(0x100*i)), uint32(at))
		record := make([]byte, fixed)
		binary.LittleEndian.PutUint32(record[4:], uint32(len(names)))
		binary.LittleEndian.PutUint32(record[16:], uint32(len(pcs)))
		records = append(records, record...)
		names = append(append(names, name...), 0)
		pcs = append(pcs, 2, 1, sizes[name]*2, 0x7f, sizes[name]*2-1, 1, 0) // 0, then its size, then 0
	}
	index = binary.LittleEndian.AppendUint32(index, uint32(0x100*len(order)))
	all := make([]byte, goHead)
	binary.LittleEndian.PutUint32(all, goMagic)
	all[6], all[7] = goQuantum, 8
	binary.LittleEndian.PutUint64(all[8:], uint64(len(order)))
	for word, part := range map[int][]byte{4: names, 7: pcs, 8: append(index, records...)} {
		binary.LittleEndian.PutUint64(all[8*word:], uint64(len(all)))
		all = append(all, part...)
	}
	return &goTable{all: all, text: goBegin}
}

const goBegin = 0x400

func TestGolang(t *testing.T) {
	sizes := map[string]byte{"runtime.cgocall": 24, "runtime.cgocallback": 32, "runtime.systemstack_switch": 8}
	got := goProgram(sizes).golang()
	want := golang{call: goFunction{0x500, 0x600, 24}, callback: goFunction{0x600, 0x700, 32}, switched: goFunction{0x700, 0x800, 8}}
	if got == nil || *got != want {
		t.Fatalf("%+v, want %+v", got, want)
	}
	sizes["runtime.systemstack_switch"] = 16
	if other := goProgram(sizes).golang(); other != nil {
		t.Errorf("of a runtime that is different: %+v", other)
	}
	// By frame pointer into cgocallback, over to cgocall, and on by frame pointers.
	table := &Table{machine: amd64, golang: got}
	w := Walker{Find: code(table)}
	words := []uint64{0xc000_0000, 0x610, 1, 2, 3, 4, 0x708, at(10), 0x510, 0, 0, 0x410}
	for _, c := range []struct {
		words []uint64
		want  []Frame
		end   End
	}{
		{words, frames(0x410, 0x610, 0x510, 0x410), Complete},
		{with(words, 6, 0x410), frames(0x410, 0x610), NoRule},
		{with(words, 8, 0x410), frames(0x410, 0x610), NoRule},
		{words[:8], frames(0x410, 0x610), NoRule},
	} {
		got, end := w.Walk(amd64.registers(map[int]uint64{16: 0x410, 7: at(0), 6: at(0)}), copied(append(slices.Clone(c.words), 0)...), nil)
		if !slices.Equal(got, c.want) || end != c.end {
			t.Errorf("%x: %+v, %d, want %+v, %d", c.words, got, end, c.want, c.end)
		}
	}
}

func with(words []uint64, i int, v uint64) []uint64 {
	words = slices.Clone(words)
	words[i] = v
	return words
}

func FuzzGolang(f *testing.F) {
	f.Add(goProgram(map[string]byte{"runtime.cgocall": 24, "runtime.cgocallback": 32, "runtime.systemstack_switch": 8}).all)
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < goHead {
			return
		}
		if g := (&goTable{all: b, text: goBegin}).golang(); g != nil && g.callback.end == 0 {
			t.Errorf("%+v", g)
		}
	})
}
