package pprof

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/pprof/profile"

	"gprof/stream"
	"gprof/stream/streamtest"
)

// alike are profiles of one program that was loaded at different addresses: they
// have most of their stacks in common, under numbers of their own.
func alike(t testing.TB, n int) (files [][]byte) {
	for i := range n {
		r := rand.New(rand.NewPCG(1, uint64(i)))
		start := uint64(0x10000 * (i + 1))
		p := &profile.Profile{
			SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
			TimeNanos:  1_795_000_000_000_000_000 + int64(i), DurationNanos: 1e9,
			Mapping: []*profile.Mapping{{ID: 1, Start: start, Limit: start + 0x1000, File: "/bin/shop", BuildID: "c0ffee"}},
		}
		for _, f := range r.Perm(10) {
			p.Function = append(p.Function, &profile.Function{ID: uint64(len(p.Function) + 1), Name: fmt.Sprint("main.f", f), Filename: "main.go", StartLine: int64(f)})
			lines := []profile.Line{{Function: p.Function[len(p.Function)-1], Line: int64(f)}, {Function: p.Function[0], Line: 7}}
			p.Location = append(p.Location, &profile.Location{ID: uint64(len(p.Location) + 1), Mapping: p.Mapping[0], Address: start + uint64(16*f), Line: lines[:1+f%2]})
		}
		for range 20 {
			s := &profile.Sample{Value: []int64{1, int64(r.IntN(100))}, Label: map[string][]string{"route": {fmt.Sprint("/", r.IntN(3))}}}
			for range r.IntN(6) {
				s.Location = append(s.Location, p.Location[r.IntN(10)])
			}
			p.Sample = append(p.Sample, s)
		}
		var out bytes.Buffer
		if err := p.WriteUncompressed(&out); err != nil {
			t.Fatal(err)
		}
		files = append(files, append(out.Bytes(), 0x12, 4, 0x0a, 2, 99, 98)) // a sample without values
	}
	return files
}

// readAll is all events of some files, as text.
func readAll(t *testing.T, p *Pool, files [][]byte) string {
	var tables stream.Tables
	var opened []*File
	for _, data := range files {
		f, err := p.Open(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil })
		if err != nil {
			t.Fatal(err)
		}
		opened = append(opened, f)
		tables.Processes = append(tables.Processes, f.Processes()...)
	}
	var sources []stream.Source
	for i, f := range opened {
		sources = append(sources, f.Source(&tables, []stream.ProcessID{stream.ProcessID(i + 1)}, 0))
	}
	var out bytes.Buffer
	if err := stream.Copy(streamtest.Validate(streamtest.NewText(&out)), stream.Merge(&tables, sources...), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// The events do not depend on whether a pool has room, nor on the order of files.
// The last file that is closed frees the pool.
func TestPool(t *testing.T) {
	files := alike(t, 8)
	want := readAll(t, new(Pool), files)
	backwards := slices.Clone(files)
	slices.Reverse(backwards)
	for _, limit := range []int64{0, 1, 3 << 10, 5 << 10} {
		for order, files := range [][][]byte{files, backwards} {
			p := &Pool{limit: limit}
			if got := readAll(t, p, files); got != want {
				t.Errorf("limit %d, order %d:\n%s\nwant:\n%s", limit, order, got, want)
			}
			if p.users != 0 || p.claimed.Bytes() != 0 || p.bytes() != 0 {
				t.Errorf("limit %d: %d users and %d bytes are left, of which tables know %d", limit, p.users, p.bytes(), p.claimed.Bytes())
			}
			if (limit > 0) != (p.spare != nil) {
				t.Errorf("limit %d: spare %v", limit, p.spare)
			}
		}
	}
}

// Profiles of one program share their texts, modules and sites in the pool, wherever it
// was loaded.
func TestPoolIsShared(t *testing.T) {
	files := alike(t, 8)
	var one, all Pool
	for i, data := range files {
		open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
		if _, err := all.Open(open); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			one.Open(open)
		}
	}
	if one.texts.Len() < 10 || all.texts.Len() > 20 || all.modules.Len() != 1 || all.sites.Len() > 100 {
		t.Errorf("%d texts, %d modules, %d sites; of one file %d, %d, %d", all.texts.Len(), all.modules.Len(), all.sites.Len(), one.texts.Len(), one.modules.Len(), one.sites.Len())
	}
}

// Sites that differ stay apart, even if hints say that they are one: programs of one
// name may have other functions at the same place.
func TestPoolTellsSitesApart(t *testing.T) {
	type code struct {
		program     string
		address     uint64
		file        string
		start, line int64
		names       []string // the innermost first
	}
	profileOf := func(c code) []byte {
		p := &profile.Profile{
			SampleType: []*profile.ValueType{{Type: "contentions", Unit: "count"}}, TimeNanos: 1_795_000_000_000_000_000,
			Mapping: []*profile.Mapping{{ID: 1, Start: 0x1000, Limit: 0x2000, File: c.program}},
		}
		l := &profile.Location{ID: 1, Mapping: p.Mapping[0], Address: c.address}
		for _, name := range c.names {
			f := &profile.Function{ID: uint64(len(p.Function) + 1), Name: name, Filename: c.file, StartLine: c.start}
			p.Function = append(p.Function, f)
			l.Line = append(l.Line, profile.Line{Function: f, Line: c.line})
		}
		p.Location, p.Sample = []*profile.Location{l}, []*profile.Sample{{Location: []*profile.Location{l}, Value: []int64{1}}}
		var out bytes.Buffer
		if err := p.WriteUncompressed(&out); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	var files [][]byte
	for _, c := range []code{
		{"/bin/shop", 0x1100, "a.go", 5, 7, []string{"main.a"}},
		{"/bin/shop", 0x1100, "a.go", 5, 7, []string{"main.b"}},
		{"/bin/shop", 0x1100, "b.go", 5, 7, []string{"main.a"}},
		{"/bin/shop", 0x1100, "a.go", 6, 7, []string{"main.a"}},
		{"/bin/shop", 0x1100, "a.go", 5, 8, []string{"main.a"}},
		{"/bin/cart", 0x1100, "a.go", 5, 7, []string{"main.a"}},
		{"/bin/shop", 0x1180, "a.go", 5, 7, []string{"main.a"}},
		{"/bin/shop", 0x0100, "a.go", 5, 7, []string{"main.a"}}, // not of the mapping
		{"/bin/shop", 0x1100, "a.go", 5, 7, []string{"main.a", "main.c"}},
		{"/bin/shop", 0x1100, "a.go", 5, 7, []string{"main.a", "main.d"}},
		{"/bin/shop", 0x1100, "a.go", 5, 7, []string{"main.a", "main.c", "main.d"}},
		{"/bin/shop", 0x1100, "a.go", 5, 7, []string{"main.a", "main.d", "main.d"}},
		{"/bin/shop", 0x1100, "a.go", 5, 7, []string{""}},
		{"/bin/shop", 0x1100, "a.go", 5, 7, nil},
	} {
		files = append(files, profileOf(c))
	}
	for i := range files {
		for k := range files {
			var p Pool
			first, second := siteIn(t, &p, files[i]), siteIn(t, &p, files[k])
			if (first == second) != (i == k) {
				t.Errorf("files %d and %d: sites %d and %d", i, k, first, second)
			}
			var r reading
			r.held = files[k]
			if _, err := r.scan(io.EOF); err != nil {
				t.Fatal(err)
			}
			var in translation
			in.reset(&r.tables, &p)
			l := &r.tables.locations.rows[0]
			if in.is(l, &guess{spot: in.spot(l), id: first, found: p.sites.At(first)}) && i != k {
				t.Errorf("file %d is taken for %d", k, i)
			}
		}
	}
}

// Stacks of one length that have their innermost sites in common are told apart,
// whatever was before them in the file.
func TestPoolTellsStacksApart(t *testing.T) {
	span := func(from, to int) (all []int) { // outward
		for i := from; i < to; i++ {
			all = append(all, i)
		}
		return all
	}

	var files [][]byte
	for _, stacks := range [][][]int{
		{append(span(1, 21), 30)},
		{{22, 31}, append(span(1, 21), 31), append([]int{23}, append(span(5, 21), 31)...)},
		{append(span(1, 17), 24, 25, 26, 27, 30)},
		{append(span(1, 21), 32)},
		{append(span(1, 21), 32), append([]int{23}, append(span(5, 21), 32)...)},
	} {
		files = append(files, fileOfStacks(t, stacks))
	}
	want := readAll(t, &Pool{limit: 1}, files) // has no stacks
	if got := readAll(t, new(Pool), files); got != want {
		t.Errorf("%s\nwant:\n%s", got, want)
	}
}

// fileOfStacks is a profile of some stacks, each as numbers of functions, the innermost
// first.
func fileOfStacks(t *testing.T, stacks [][]int) []byte {
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "contentions", Unit: "count"}}, TimeNanos: 1_795_000_000_000_000_000}
	for i := range 40 {
		f := &profile.Function{ID: uint64(i + 1), Name: fmt.Sprint("f", i)}
		p.Function = append(p.Function, f)
		p.Location = append(p.Location, &profile.Location{ID: uint64(i + 1), Address: uint64(i), Line: []profile.Line{{Function: f}}})
	}
	for _, stack := range stacks {
		s := &profile.Sample{Value: []int64{1}}
		for _, i := range stack {
			s.Location = append(s.Location, p.Location[i])
		}
		p.Sample = append(p.Sample, s)
	}
	var out bytes.Buffer
	if err := p.WriteUncompressed(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// siteIn is the site of the only location of a file.
func siteIn(t *testing.T, p *Pool, data []byte) siteID {
	f, err := p.Open(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil })
	if err != nil {
		t.Fatal(err)
	}
	var s sample
	s.take(f.kept.samples)
	_, site := p.stacks.At(s.stack)
	return site
}

// Files that are made up can make hints collide, but no hint is then wrong, and their
// table does not grow.
func TestHints(t *testing.T) {
	var h hints
	for i := range uint32(1000) {
		h.set(i<<12, siteID(i+1))
		if id := h.find(i << 12); id != siteID(i+1) {
			t.Fatalf("%d was just set, and is %d", i+1, id)
		}
	}
	known := 0
	for i := range uint32(1000) {
		if id := h.find(i << 12); id != 0 && id != siteID(i+1) {
			t.Fatalf("%d is %d", i+1, id)
		} else if id != 0 {
			known++
		}
	}
	if h.find(999<<12+1) != 0 || known < maxProbes-1 || len(h.table) > 4096 {
		t.Errorf("%d are known, in a table of %d", known, len(h.table))
	}
}

// FuzzSample: what is kept of a sample is the sample.
func FuzzSample(f *testing.F) {
	f.Add(int32(1), int32(0), int32(3), int64(7), int64(1), int64(-1))
	f.Fuzz(func(t *testing.T, stack, labels, site int32, goroutine, a, b int64) {
		id := func(n int32) int32 { return n & (1<<31 - 1) }
		want := sample{stackID(id(stack)), []siteID{siteID(id(site)), 0}, owner{goroutine, labelsID(id(labels))}, []int64{a, b}, 0}
		data := want.append(nil)
		var got sample
		if rest := got.take(append(data, 9)); len(rest) != 1 || got.stack != want.stack || got.owner != want.owner ||
			!slices.Equal(got.inner, want.inner) || !slices.Equal(got.values, want.values) {
			t.Errorf("%+v comes back as %+v, and %d bytes are left", want, got, len(rest))
		}
	})
}
