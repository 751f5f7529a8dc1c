package jitcode_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"gprof/rawformat/jitcode"
)

func TestNames(t *testing.T) {
	if name := jitcode.MapName(47); name != "perf-47.map" {
		t.Error(name)
	}
	for name, want := range map[string][2]int32{"perf-47.map": {47, 0}, "jit-48.dump": {0, 48}, "perf-x.map": {}, "perf-47.map.old": {}, "jit-0.dump": {}, "jit--1.dump": {}} {
		a, _ := jitcode.OfMapName(name)
		b, _ := jitcode.OfDumpName(name)
		if ok := [2]int32{max(a, 0), max(b, 0)}; ok != want {
			t.Errorf("%s is of %v, want %v", name, ok, want)
		}
	}
}

func TestParseLine(t *testing.T) {
	for line, want := range map[string]string{
		"3ef0 10 JS:~main /srv/w.js:1:1":                   "3ef0 10 JS:~main /srv/w.js:1:1",
		"0x00007f79 0x0000000000000270 long J.f(int, int)": "7f79 270 long J.f(int, int)",
		"1 2 f\r":               "1 2 f",
		"1 0 empty":             "",
		"1 2":                   "",
		"g 2 f":                 "",
		"11111111111111111 2 f": "",
	} {
		got := ""
		if f, ok := jitcode.ParseLine(line); ok {
			got = fmt.Sprintf("%x %x %s", f.Start, f.Size, f.Name)
		}
		if got != want {
			t.Errorf("%q is %q, want %q", line, got, want)
		}
	}
}

// Of functions that overlap, the latest has the addresses that it covers.
func TestList(t *testing.T) {
	const room = 200
	r := rand.New(rand.NewPCG(1, 2))
	var l jitcode.List
	var want [room]string
	for i := range 300 {
		f := jitcode.Function{Start: r.Uint64N(room), Name: fmt.Sprint(i)}
		f.Size = 1 + r.Uint64N(room-f.Start)/5
		if !l.Add(f) {
			t.Fatal("full")
		}
		for at := f.Start; at < f.Start+f.Size; at++ {
			want[at] = f.Name
		}
		if i%50 != 0 {
			continue
		}
		for at := range uint64(room) {
			got := ""
			if f, ok := l.At(at); ok {
				got = f.Name
			}
			if got != want[at] {
				t.Fatalf("of %d functions at %d is %q, want %q", i, at, got, want[at])
			}
		}
	}
	if _, ok := l.At(1 << 63); ok || l.Len() != 300 || l.Size() < 300*64 {
		t.Errorf("%d functions, %d bytes", l.Len(), l.Size())
	}
}

// dump is a jitdump.
type dump []byte

func newDump() dump {
	return dump(nil).u32(0x4A695444, 1, 40, 62, 0, 47).u64(1000, 0)
}

func (d dump) u32(all ...uint32) dump {
	for _, v := range all {
		d = binary.LittleEndian.AppendUint32(d, v)
	}
	return d
}

func (d dump) u64(all ...uint64) dump {
	for _, v := range all {
		d = binary.LittleEndian.AppendUint64(d, v)
	}
	return d
}

func (d dump) add(kind uint32, body dump) dump {
	return append(d.u32(kind, uint32(16+len(body))).u64(2000), body...)
}

func (d dump) load(start, size, index uint64, name string) dump {
	body := append(dump(nil).u32(47, 48).u64(start, start, size, index), name...)
	return d.add(0, append(append(body, 0), make([]byte, size)...))
}

func (d dump) move(from, to, size, index uint64) dump {
	return d.add(1, dump(nil).u32(47, 48).u64(to, from, to, size, index))
}

func (d dump) lines(of uint64, lines ...string) dump {
	body := dump(nil).u64(of, uint64(len(lines)))
	for i, file := range lines {
		body = append(append(body.u64(of+uint64(16*i)).u32(uint32(10+i), 0), file...), 0)
	}
	return d.add(2, body)
}

// sample is a list with all kinds of entries.
func sample() dump {
	d := newDump().lines(0x1000, "a.js", "\xff", "b.js").load(0x1000, 0x40, 1, "LazyCompile:*f").load(0x2000, 0x20, 2, "g")
	d = d.add(4, dump(nil).u64(0, 0, 0)).add(77, dump(nil).u64(1)).move(0x1000, 0x3000, 0x40, 1).load(0x1000, 0x10, 3, "h")
	return d.lines(0x9999, "c.js").load(0x4000, 8, 4, "k").add(3, nil)
}

// told is what a list says of some addresses.
func told(l *jitcode.List) (all []string) {
	for _, at := range []uint64{0xfff, 0x1000, 0x1010, 0x2000, 0x2020, 0x3000, 0x3018, 0x3020, 0x4000} {
		text := "-"
		if f, ok := l.At(at); ok {
			file, line := f.Place(at)
			text = fmt.Sprintf("%s %s:%d", f.Name, file, line)
		}
		all = append(all, text)
	}
	return all
}

// A dump says the same in whatever pieces it is read; one that is cut says less.
func TestDump(t *testing.T) {
	want := []string{"-", "h :0", "LazyCompile:*f a.js:11", "g :0", "-", "LazyCompile:*f a.js:10", "LazyCompile:*f a.js:11", "LazyCompile:*f b.js:12", "k :0"}
	b := sample()
	for size := 1; size <= len(b); size += 7 {
		var l jitcode.List
		d := jitcode.Dump{Into: &l}
		for piece := range slices.Chunk(b, size) {
			if n, err := d.Write(piece); n != len(piece) || err != nil {
				t.Fatal(n, err)
			}
		}
		if got := told(&l); !slices.Equal(got, want) {
			t.Fatalf("in pieces of %d: %q, want %q", size, got, want)
		}
	}
	before := 0
	for n := range b {
		var l jitcode.List
		if _, err := (&jitcode.Dump{Into: &l}).Write(b[:n]); err != nil || l.Len() < before {
			t.Fatalf("of %d bytes: %d functions, %v", n, l.Len(), err)
		}
		before = l.Len()
	}
}

func TestNoDump(t *testing.T) {
	swapped := slices.Clone(sample())
	slices.Reverse(swapped[:4])
	odd := slices.Clone(sample())
	binary.LittleEndian.PutUint32(odd[44:], 3)
	for _, b := range [][]byte{bytes.Repeat([]byte("text"), 20), swapped, odd} {
		var l jitcode.List
		if _, err := (&jitcode.Dump{Into: &l}).Write(b); err != jitcode.ErrDump || l.Len() > 0 {
			t.Errorf("%q: %v", b[:40], err)
		}
	}
}

func FuzzDump(f *testing.F) {
	f.Add([]byte(sample()), 7)
	f.Add([]byte(newDump().load(1, 2, 3, "x").move(1, 1<<63, 1<<63, 3)), 1000)
	f.Fuzz(func(t *testing.T, b []byte, size int) {
		var whole, pieces jitcode.List
		w, p := jitcode.Dump{Into: &whole}, jitcode.Dump{Into: &pieces}
		_, err1 := w.Write(b)
		var err2 error
		for piece := range slices.Chunk(b, 1+max(size, 0)%1000) {
			if _, err2 = p.Write(piece); err2 != nil {
				break
			}
		}
		if whole.Len() != pieces.Len() || err1 != err2 || err1 == io.ErrShortBuffer {
			t.Errorf("%d functions, %v; in pieces %d, %v", whole.Len(), err1, pieces.Len(), err2)
		}
		if f, ok := whole.At(0x1000); ok {
			f.Place(0x1000)
		}
	})
}

func FuzzParseLine(f *testing.F) {
	f.Add("3ef0 10 JS:~main /srv/w.js:1:1")
	f.Fuzz(func(t *testing.T, line string) {
		if f, ok := jitcode.ParseLine(line); ok {
			var l jitcode.List
			l.Add(f)
			if got, found := l.At(f.Start); found != (f.Start+f.Size > f.Start) || found && got.Name != f.Name {
				t.Errorf("%+v is not found", f)
			}
		}
	})
}
