package decode

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"gprof/chunks"
	"gprof/rawformat"
)

// randomDefinitions are bodies of records: modules, and then strings, frames, symbols and stacks in turn, some of which are
// cut or have a bit turned.
func randomDefinitions(r *rand.Rand, n int) (bodies [][]byte) {
	for id := range uint64(9) {
		b := rawformat.AppendText(rawformat.AppendText(rawformat.AppendUint([]byte{byte(rawformat.KindDefModule)}, id), "/bin/x"), "build")
		bodies = append(bodies, append(b, make([]byte, 24)...))
	}
	kinds := []rawformat.Kind{rawformat.KindDefString, rawformat.KindDefFrame, rawformat.KindDefSymbol, rawformat.KindDefStack}
	stack := uint64(0)
	for range n {
		kind := kinds[r.IntN(len(kinds))]
		b := randomFields(r, kind)
		if kind == rawformat.KindDefStack && r.IntN(3) > 0 { // the child of the one before, as most are
			stack++
			b = rawformat.AppendUint(rawformat.AppendUint(rawformat.AppendUint(nil, stack), stack-1), r.Uint64()>>(48+r.IntN(15)))
		}
		if kind == rawformat.KindDefSymbol && r.IntN(2) > 0 { // of few bytes
			b = nil
			for range 4 + r.IntN(2) {
				b = rawformat.AppendUint(b, r.Uint64()>>(50+r.IntN(14)))
			}
		}
		if kind == rawformat.KindDefString && r.IntN(3) == 0 {
			b = rawformat.AppendText(rawformat.AppendUint(nil, uint64(r.IntN(n))), strings.Repeat("t", r.IntN(200)))
		}
		switch r.IntN(8) {
		case 0:
			b = b[:r.IntN(len(b))]
		case 1:
			b[r.IntN(len(b))] ^= 1 << r.IntN(8)
		case 2:
			b = append(b, 0, 0x80)
		}
		bodies = append(bodies, append([]byte{byte(kind)}, b...))
	}
	return bodies
}

// Definitions that are taken class by class, and many stacks on another goroutine, are those that are found one by one by the strict
// reader.
func TestSortedDefinitions(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{0, 1, 3, 500, 5000, 25 * manyStacks} {
		file := rawformat.AppendRecordHeader(nil, &rawformat.RecordHeader{Magic: rawformat.MagicDict, Version: rawformat.Version, Instance: 7, Generation: 1, Pid: 7})
		for _, body := range randomDefinitions(r, n) {
			file = rawformat.AppendRecord(file, body, 7, 1)
		}
		if n >= 5000 { // damaged records, behind which each is summed by itself
			file[len(file)/2]++
			file[len(file)/3]++
		}
		p, err := chunks.OpenProcess(fstest.MapFS{"7/dict-001": {Data: file}}, "7")
		if err != nil {
			t.Fatal(err)
		}
		var got, want dictionary
		var strict loader
		quick := loader{jobs: 2}
		quick.load(&got, p.Dicts[0], nil)
		for _, rec := range p.Dicts[0].All(nil) {
			strict.strictly(&want, &rec)
		}
		for id := range uint64(n) {
			if a, b := got.bytes(got.strings.get(id)), want.bytes(want.strings.get(id)); !bytes.Equal(a, b) {
				t.Fatalf("string %d is %q, want %q", id, a, b)
			}
		}
		if !got.frames.equal(&want.frames) || !got.stacks.equal(&want.stacks) || !slices.Equal(got.symbols.all(), want.symbols.all()) || got.malformed != want.malformed {
			t.Errorf("of %d definitions: %d malformed, %d frames, %d symbols, %d stacks, want %d, %d, %d, %d", n,
				got.malformed, len(got.frames.dense), len(got.symbols.all()), len(got.stacks.dense),
				want.malformed, len(want.frames.dense), len(want.symbols.all()), len(want.stacks.dense))
		}
		if n > 5000 && quick.records.Count(rawformat.KindDefStack) < manyStacks {
			t.Errorf("%d stacks before the damage are too few", quick.records.Count(rawformat.KindDefStack))
		}
		if n >= 5000 && (got.malformed < 100 || len(got.symbols.all()) < 100 || len(got.stacks.dense) < 500 || len(got.stacks.sparse) == 0) {
			t.Errorf("too little of something: %d malformed, %d symbols, %d stacks", got.malformed, len(got.symbols.all()), len(got.stacks.dense))
		}
	}
}

func (t *ids[T]) equal(other *ids[T]) bool {
	return slices.Equal(t.dense, other.dense) && maps.Equal(t.sparse, other.sparse) && t.puts == other.puts
}

func (s symbols) all() (all []symbol) {
	for len(s) > 0 {
		var one symbol
		if one.read(s.next()) {
			all = append(all, one)
		}
	}
	return all
}

// strictly takes a definition by the cursor.
func (l *loader) strictly(d *dictionary, r *chunks.Record) {
	c := r.Fields()
	def := definitions[r.Kind]
	if def.read != nil {
		if def.read(d, &c); c.Err() != nil {
			d.malformed++
		}
		return
	}
	if _, err := l.entry.readStrictly(r.Kind, &c); err != nil {
		d.malformed++
		return
	}
	def.take(d, &l.entry)
}
