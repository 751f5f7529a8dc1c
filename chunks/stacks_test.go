package chunks

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"gprof/chunks/folder"
	"gprof/rawformat"
)

// testRing is a stack ring file with consecutive records, of which those from tail on are
// not drained.
func testRing(tid uint32, tail, next, index uint64, records ...[]uint64) []byte {
	b := make([]byte, rawformat.StacksFile)
	rawformat.PutStacksHeader(b, &rawformat.StacksHeader{Instance: testInstance, Pid: 7, Tid: tid, Period: 1000})
	put := func(at int, v uint64) { binary.LittleEndian.PutUint64(b[at:], v) }
	head := tail
	for _, r := range records {
		r[0] |= uint64(len(r)) | head<<32
		for _, w := range r {
			put(rawformat.StacksHead+8*int(head%rawformat.StacksWords), w)
			head++
		}
	}
	put(rawformat.OffStacksHead, head)
	put(rawformat.OffStacksTail, tail)
	put(rawformat.OffStacksNext, next)
	put(rawformat.OffStacksIndex, index)
	return b
}

// stackRecord is one of n return addresses.
func stackRecord(time uint64, n int) []uint64 {
	r := []uint64{0, time, 5, 0, 0x1000, 0}
	for i := range n {
		r = append(r, uint64(0x2001+i*0x10000))
	}
	return r
}

// rest returns the samples after the chunks: thread, time and depth.
func rest(t *testing.T, files map[string][]byte, problems *[]Problem) (all []string) {
	t.Helper()
	p, err := OpenProcess(dirOf(files), "p")
	if err != nil {
		t.Fatal(err)
	}
	*problems = append(*problems, p.Problems...)
	r := p.Blocks(func(problem Problem) { *problems = append(*problems, problem) })
	var now, depth uint64
	for r.Next() {
		b := r.Block()
		switch b.Kind {
		case rawformat.KindSync:
			if index := b.Fields.Uint("index"); index != b.Index {
				t.Errorf("sync block of index %d at %d", index, b.Index)
			}
			b.Fields.Uint("epoch")
			now = b.Fields.Uint("time")
		case rawformat.KindStack:
			depth = uint64(len(b.Fields.PCs(nil, "pcs")))
		case rawformat.KindSample:
			now += uint64(b.Fields.Sint("time"))
			all = append(all, fmt.Sprintf("%d:%d/%d", b.Fields.Uint("thread"), now, depth))
		}
	}
	return all
}

// Records that were not drained are read after the chunks; those that a committed block
// claims to hold are not read again.
func TestUndrained(t *testing.T) {
	one := newTestChunk(1, 1, 8000).fill(2000, "x")
	chunk := one.file()
	committed := one.h.RangeStart
	records := func() [][]uint64 {
		return [][]uint64{stackRecord(100, 3), stackRecord(90, 0), stackRecord(300, 120)}
	}
	const at = 1<<32 - 5 // positions need more bits than a record has
	tests := map[string]struct {
		ring []byte
		want []string
	}{
		"all":              {testRing(3, at, 0, 0, records()...), []string{"3:100/4", "3:90/1", "3:300/121"}},
		"claimed":          {testRing(3, at, at+9, committed+4000, records()...), []string{"3:100/4", "3:90/1", "3:300/121"}},
		"claimed, written": {testRing(3, at, at+9, committed, records()...), []string{"3:90/1", "3:300/121"}},
		"all drained":      {testRing(3, at, at+9+6+126, committed, records()...), nil},
		"nothing":          {testRing(3, 0, 0, 0), nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var problems []Problem
			got := rest(t, map[string][]byte{"chunk-00000": chunk, "stacks-3": test.ring}, &problems)
			if fmt.Sprint(got) != fmt.Sprint(test.want) {
				t.Errorf("samples %v, want %v", got, test.want)
			}
			for _, p := range problems {
				if p.Class != Unproven && p.Class != Missing {
					t.Errorf("problem: %v", p)
				}
			}
		})
	}
}

// Samples that were moved into a chunk after the ring was copied are there once, in whatever kind of
// block the recorder wrote them.
func TestDrainedMeanwhile(t *testing.T) {
	sint := rawformat.AppendSint
	coarse := func(kind rawformat.Kind, units int64, thread int64) []byte {
		b := sint(sint(sint([]byte{byte(kind)}, units), thread), 0)
		if b = rawformat.AppendUint(b, 0); kind == rawformat.KindBusyFor {
			b = sint(b, 0)
		}
		return b
	}
	sample := append(sint([]byte{byte(rawformat.KindSample)}, 700), 3, 0, 0, 0, 1, 0, 0)
	one := newTestChunk(1, 1, 8000)
	// The sync block is at tick 1000, so these are at 2024, 3048, 4072 and 4772.
	if !one.add(coarse(rawformat.KindBusy, 4, 3), coarse(rawformat.KindBusyFor, 4, 0), coarse(rawformat.KindBusyFor, 4, 1), sample) {
		t.Fatal("no room")
	}
	at := func(tick uint64) []uint64 { return stackRecord(tick, 3) }
	files := map[string][]byte{"chunk-00000": one.file(), "stacks-3": testRing(3, 0, 0, 0,
		at(2024), at(3048+255), at(3048+256), at(4072), at(4772), at(9000))}
	var problems []Problem
	got := rest(t, files, &problems)
	if want := []string{"3:1700/0", "3:3304/4", "3:4072/4", "3:9000/4"}; !slices.Equal(got, want) {
		t.Errorf("samples %v, want %v", got, want)
	}
}

// The samples of a ring have the CPU time that was measured. In recordings of older recorders, and where it is not
// known, they have that of their periods.
func TestUndrainedCPUTime(t *testing.T) {
	measured := func(cpu, overrun uint64) []uint64 {
		r := slices.Insert(stackRecord(100, 3), rawformat.StackFixed, rawformat.StackCPU|cpu)
		r[0] = overrun << 16
		return r
	}
	older := stackRecord(400, 2)
	older[0] = 2 << 16
	ring := testRing(3, 0, 0, 0, measured(1234, 0), measured(1, 0), measured(5001, 1), measured(0, 3), older)
	p, err := OpenProcess(dirOf(map[string][]byte{"chunk-00000": newTestChunk(1, 1, 8000).fill(2000, "x").file(), "stacks-3": ring}), "p")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	pcs := 0
	for r := p.Blocks(nil); r.Next(); {
		c := r.Block().Fields
		switch r.Block().Kind {
		case rawformat.KindStack:
			pcs = len(c.PCs(nil, "pcs"))
		case rawformat.KindSample:
			for _, name := range []string{"time", "thread", "goroutine", "track", "stack"} {
				c.Uint(name)
			}
			weight, cpu := c.Uint("weight"), c.Uint("cpu")
			got = append(got, fmt.Sprintf("%d of %d, %d pcs", cpu, weight, pcs))
		}
	}
	// The periods are of 1000 ns.
	want := "[1234 of 1, 4 pcs 1 of 1, 4 pcs 5001 of 2, 4 pcs 4001 of 4, 4 pcs 3001 of 3, 3 pcs]"
	if fmt.Sprint(got) != want {
		t.Errorf("samples %v, want %s", got, want)
	}
}

// A copy of a live process may have a sample in its ring and in the chunk that it was
// moved to meanwhile. It counts once. A sample of another thread at the same time is
// another one.
func TestDrainedWhileCopied(t *testing.T) {
	ring := testRing(3, 0, 0, 0, stackRecord(100, 3), stackRecord(90, 0), stackRecord(300, 120))
	for tid, want := range map[uint64]string{3: "[3:100/0 3:90/1 3:300/121]", 4: "[4:100/0 3:100/4 3:90/1 3:300/121]"} {
		sample := rawformat.AppendSint([]byte{byte(rawformat.KindSample)}, 100-1000) // the sync block before it is of 1000
		for _, v := range []uint64{tid, 5, 0, 1, 1, 0, 0} {
			sample = rawformat.AppendUint(sample, v)
		}
		one := newTestChunk(1, 1, 8000)
		one.add(sample)
		var problems []Problem
		if got := rest(t, map[string][]byte{"chunk-00000": one.file(), "stacks-3": ring}, &problems); fmt.Sprint(got) != want {
			t.Errorf("samples %v, want %v", got, want)
		}
	}
}

// Damage costs the records after it in the ring, and is reported.
func TestUndrainedDamage(t *testing.T) {
	whole := testRing(3, 7, 0, 0, stackRecord(1, 1), stackRecord(2, 1), stackRecord(3, 1))
	second := rawformat.StacksHead + 8*(7+7)
	tests := map[string]struct {
		change func(b []byte) []byte
		want   int
		class  ProblemClass
	}{
		"size":      {func(b []byte) []byte { b[second] = 3; return b }, 1, Damaged},
		"long":      {func(b []byte) []byte { b[second+1] = 9; return b }, 1, Damaged},
		"position":  {func(b []byte) []byte { b[second+4]++; return b }, 1, Damaged},
		"head":      {func(b []byte) []byte { b[rawformat.OffStacksHead+6] = 1; return b }, 0, Damaged},
		"tail":      {func(b []byte) []byte { b[rawformat.OffStacksTail+1] = 1; return b }, 0, Damaged},
		"header":    {func(b []byte) []byte { b[20]++; return b }, 0, Damaged},
		"cut":       {func(b []byte) []byte { return b[:len(b)-1] }, 0, Torn},
		"cut short": {func(b []byte) []byte { return b[:50] }, 0, Torn},
		"foreign":   {func(b []byte) []byte { return bytes.Repeat([]byte{7}, 5000) }, 0, Foreign},
		"other's": {func(b []byte) []byte {
			rawformat.PutStacksHeader(b, &rawformat.StacksHeader{Instance: 77})
			return b
		}, 0, Foreign},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			one := newTestChunk(1, 1, 8000).fill(2000, "x")
			var problems []Problem
			got := rest(t, map[string][]byte{"chunk-00000": one.file(), "stacks-3": test.change(bytes.Clone(whole))}, &problems)
			told := false
			for _, p := range problems {
				told = told || p.Class == test.class && p.Where == "stacks-3"
			}
			if len(got) != test.want || !told {
				t.Errorf("samples %v, want %d; problems %v", got, test.want, problems)
			}
		})
	}
}

// A ring whose header is not complete yet holds nothing and is not damaged: its process
// may live, or have died at that moment. A ring with records has a header.
func TestUndrainedNew(t *testing.T) {
	whole := testRing(3, 0, 0, 0)
	one := newTestChunk(1, 1, 8000).fill(2000, "x")
	told := func(ring []byte) bool {
		var problems []Problem
		rest(t, map[string][]byte{"chunk-00000": one.file(), "stacks-3": ring}, &problems)
		return slices.ContainsFunc(problems, func(p Problem) bool { return p.Where == "stacks-3" })
	}
	for n := range rawformat.OffStacksCRC + 1 { // the CRC is written at once
		ring := make([]byte, len(whole))
		if copy(ring, whole[:n]); told(ring) {
			t.Errorf("a ring with %d bytes of its header is told of", n)
		}
		if ring[rawformat.OffStacksHead] = 1; n > 0 && !told(ring) {
			t.Errorf("a ring with records and %d bytes of its header is not told of", n)
		}
	}
}

// FuzzUndrained: whatever a ring holds, reading comes to an end and gives blocks that can
// be read.
func FuzzUndrained(f *testing.F) {
	f.Add(uint64(7), []byte{6, 0, 0, 0, 7, 0, 0, 0, 47: 1})
	f.Add(uint64(1<<33-1), []byte{7, 0, 0, 0, 255, 255, 255, 255, 55: 1, 56: 8, 58: 3, 60: 6, 71: 2, 119: 0})
	f.Fuzz(func(t *testing.T, tail uint64, data []byte) {
		b := testRing(3, tail, 0, 0)
		at := int(tail % rawformat.StacksWords * 8)
		copy(b[rawformat.StacksHead:], data[copy(b[rawformat.StacksHead+at:], data):])
		binary.LittleEndian.PutUint64(b[rawformat.OffStacksHead:], tail+uint64(len(data)/8))
		r, _ := readStacks(dirOf(map[string][]byte{"stacks-3": b}), "p/stacks-3")
		if r == nil {
			return
		}
		o := opening{p: &Process{Instance: r.header.Instance}, rings: []*ring{r}}
		o.undrained()
		blocks := o.p.Blocks(func(p Problem) {
			if p.Class != Unproven {
				t.Errorf("problem: %v", p)
			}
		})
		for blocks.Next() {
			b := blocks.Block()
			for _, field := range rawformat.Kinds[b.Kind].Fields {
				if field.Type == rawformat.PCs {
					b.Fields.PCs(nil, field.Name)
				} else {
					b.Fields.Uint(field.Name)
				}
			}
			if err := b.Fields.Err(); err != nil {
				t.Error(err)
			}
		}
	})
}

// A hostile head of a ring costs just the samples in that ring: the drainer keeps its own
// position, and does not count impossible losses.
func TestStacksHostileHead(t *testing.T) {
	dir := t.TempDir()
	s, err := CreateStacks(folder.Dir(dir), rawformat.StacksHeader{Instance: testInstance, Tid: 7, Period: 1000})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	put := func(off int, v uint64) { binary.LittleEndian.PutUint64(s.Memory()[off:], v) }
	copy(s.Memory()[rawformat.StacksHead:], testRing(7, 0, 0, 0, stackRecord(1, 3), stackRecord(2, 3))[rawformat.StacksHead:])
	put(rawformat.OffStacksHead, 18)
	var rec rawformat.StackRecord
	if ok, err := s.Next(&rec); !ok || err != nil || rec.Time != 1 {
		t.Fatalf("%v, %v: time %d, want 1", ok, err, rec.Time)
	}
	put(rawformat.OffStacksTail, 1<<40)
	if s.Back(); s.reader.Tail != 0 {
		t.Errorf("back at %d, want 0", s.reader.Tail)
	}
	for _, lost := range []uint64{3, 1 << 40, 1<<64 - 1, 4} {
		put(rawformat.OffStacksLost, lost)
		if n := s.Lost(); n > 10 {
			t.Errorf("%d lost of a count of %d", n, lost)
		}
	}
	put(rawformat.OffStacksHead, 1<<40)
	if ok, err := s.Next(&rec); ok || err == nil {
		t.Errorf("%v, %v: want an error", ok, err)
	}
	if ok, err := s.Next(&rec); ok || err != nil {
		t.Errorf("%v, %v: want nothing behind it", ok, err)
	}
}
