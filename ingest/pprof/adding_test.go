package pprof

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"gprof/rawformat/profileproto"
	"gprof/stream"
)

// summer is a Sink that sums up rows by kind, stack and labels.
type summer struct {
	tables   *stream.Tables
	sums     map[string][4]int64
	from, to stream.Time // of the processes with rows
}

func (s *summer) Begin(t *stream.Tables) error {
	s.tables, s.sums = t, map[string][4]int64{}
	return nil
}

func (s *summer) Segment(b *stream.Batch) error {
	p := s.tables.Process(b.Series.Process)
	if len(s.sums) == 0 {
		s.from, s.to = p.Start, p.End
	}
	s.from, s.to = min(s.from, p.Start), max(s.to, p.End)
	for i, id := range b.Stack {
		key := fmt.Sprint(b.Series.Kind, b.Series.Kind == stream.Allocations && b.Value[i] < 0, p.Name)
		if b.Series.Counter != 0 {
			key += s.tables.Counters.At(b.Series.Counter).Name
		}
		for id != 0 {
			var frame stream.FrameID
			id, frame = s.tables.Stacks.At(id)
			f := s.tables.Frames.At(frame)
			key += fmt.Sprint(" ", s.tables.Strings.At(f.Function), "+", f.Offset, ":", f.Line)
		}
		if labels := b.Owner(i).Labels; labels != 0 {
			for k, v := range s.tables.Labels.At(labels).All() {
				key += fmt.Sprint(" ", k, "=", v, s.tables.NumericLabel(k))
			}
		}
		sum := s.sums[key]
		if b.Series.Kind == stream.Samples {
			sum[0], sum[1] = sum[0]+b.Weight[i], sum[1]+b.CPU[i]
		} else {
			sum[2], sum[3] = sum[2]+b.Value[i], sum[3]+b.Number[i]
		}
		s.sums[key] = sum
	}
	return nil
}

func (s *summer) Close() error { return nil }

// text is the sums, the time of all, and the ledger without processes.
func (s *summer) text() string {
	var out strings.Builder
	fmt.Fprintln(&out, s.from, s.to, s.tables.Mappings())
	for _, key := range slices.Sorted(maps.Keys(s.sums)) {
		if sum := s.sums[key]; sum != [4]int64{} { // rows of zeros, which most outputs leave out
			fmt.Fprintln(&out, key, sum)
		}
	}
	var all stream.Ledger
	for _, line := range s.tables.Ledger.Lines() {
		line.Process = ""
		all.Add(line)
	}
	for _, line := range all.Lines() {
		fmt.Fprintf(&out, "%+v\n", line)
	}
	return out.String()
}

// addAll sums up files in a pool: added as they are read or, if none are added, apart.
func addAll(t *testing.T, p *Pool, files [][]byte, added bool) (sums string, processes int) {
	t.Helper()
	var tables stream.Tables
	var opened []*File
	for _, data := range files {
		open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
		var f *File
		if added {
			f, _, _ = p.Add(open, int64(len(data)))
		} else {
			f, _ = p.Open(open)
		}
		if f != nil {
			opened = append(opened, f)
		}
	}
	p.Settle()
	var sources []stream.Source
	for i, f := range opened {
		tables.Processes = append(tables.Processes, f.Processes()...)
		sources = append(sources, f.Sources(&tables, []stream.ProcessID{stream.ProcessID(i + 1)}, 0)...)
	}
	var s summer
	if err := stream.Copy(&s, stream.Merge(&tables, sources...), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	if p.users != 0 || p.claimed.Bytes() != 0 || p.bytes() != 0 {
		t.Errorf("%d users and %d bytes are left, of which tables know %d", p.users, p.bytes(), p.claimed.Bytes())
	}
	return s.text(), len(opened)
}

// manyKinds are profiles of several kinds, of each of which there are some.
func manyKinds(t *testing.T) (files [][]byte) {
	types := func(names ...string) (all []*profile.ValueType) {
		for _, name := range names {
			typ, unit, _ := strings.Cut(name, "/")
			all = append(all, &profile.ValueType{Type: typ, Unit: unit})
		}
		return all
	}
	add := func(i int, time int64, types []*profile.ValueType, values ...[]int64) {
		p := &profile.Profile{SampleType: types, PeriodType: types[len(types)-1], Period: 10_000_000, TimeNanos: time, DurationNanos: int64(1+i%3) * 1e9}
		p.Mapping = []*profile.Mapping{{ID: 1, Start: uint64(0x10000 * (i + 1)), Limit: uint64(0x10000*(i+1)) + 0x1000, File: "/bin/shop", BuildID: "c0ffee", HasFunctions: i%2 == 0}}
		for k := range 4 {
			f := &profile.Function{ID: uint64(k + 1), Name: fmt.Sprint("main.f", k), Filename: "main.go"}
			p.Function = append(p.Function, f)
			p.Location = append(p.Location, &profile.Location{ID: uint64(k + 1), Mapping: p.Mapping[0], Address: p.Mapping[0].Start + uint64(k), Line: []profile.Line{{Function: f, Line: 3}}})
		}
		for k, v := range values {
			s := &profile.Sample{Value: v, Location: []*profile.Location{p.Location[(i+k)%4], p.Location[k%3]}}
			if k%2 == 1 {
				s.Label = map[string][]string{"route": {fmt.Sprint("/", i%2)}}
				s.NumLabel = map[string][]int64{"goroutine": {int64(7 + i)}, "size": {int64(i % 2)}}
			}
			p.Sample = append(p.Sample, s)
		}
		var out bytes.Buffer
		if err := p.WriteUncompressed(&out); err != nil {
			t.Fatal(err)
		}
		files = append(files, out.Bytes())
	}
	const day = 1_795_000_000_000_000_000
	for i := range 5 {
		n := int64(i)
		add(i, day+n, types("samples/count", "cpu/nanoseconds"), []int64{1, 10 + n}, []int64{2, 20 + n}, []int64{-3, 5}, []int64{1 << 62, 1}, []int64{0, 0})
		add(i, day+n, types("cpu/milliseconds"), []int64{14}, []int64{16}, []int64{-7}, []int64{0})
		add(i, day-n, types("alloc_objects/count", "alloc_space/bytes", "inuse_objects/count", "inuse_space/bytes"), []int64{9, 90, 1, 10}, []int64{1, 10, 2, 20}, []int64{5, 50, 5, 50})
		add(i, 0, types("contentions/count", "delay/seconds"), []int64{n, 2}, []int64{0, 0}, []int64{1, -2})
		add(i, day-1000, types("samples/count", "cpu/nanoseconds")) // without samples
		add(i, day, types("goroutine/count"))
	}
	files[6] = append(files[6], 0x12, 4, 0x0a, 2, 99, 98) // a sample without values, of a place that is not there
	files = append(files, files[1][:len(files[1])-3])     // cut off
	return files
}

// The sum of profiles does not depend on whether they are added as they are read, whether there is room, and which of
// them comes first; and of those that are added there is one process of each kind.
func TestAdd(t *testing.T) {
	files := slices.Concat(alike(t, 8), manyKinds(t))
	want, apart := addAll(t, new(Pool), files, false)
	backwards := slices.Clone(files)
	slices.Reverse(backwards)
	for _, limit := range []int64{0, 1, 3 << 10, 5 << 10, 20 << 10} {
		for order, files := range [][][]byte{files, backwards} {
			got, processes := addAll(t, &Pool{limit: limit}, files, true)
			if got != want {
				t.Errorf("limit %d, order %d:\n%s\nwant:\n%s", limit, order, got, want)
			}
			if processes != 7 || apart != len(files) { // one is that which lost its period
				t.Errorf("limit %d, order %d: %d processes of %d, want 7 of %d", limit, order, processes, apart, len(files))
			}
		}
	}
}

// Profiles that are given twice are counted once, and the better packed of two is the copy.
func TestAddCopies(t *testing.T) {
	files := alike(t, 3)
	want, _ := addAll(t, new(Pool), files, true)
	p := new(Pool)
	var first *File
	for i, data := range slices.Concat(files, files, files[:1]) {
		f, ok, err := p.Add(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }, int64(100+i))
		if !ok || err != nil || (f != nil) != (i == 0) {
			t.Fatalf("file %d: %v, ok %v, %v", i, f, ok, err)
		}
		if i == 0 {
			first = f
		}
	}
	p.Settle()
	if n, bytes := first.Copies(); first.Files() != 3 || n != 4 || bytes != 100+101+102+103 {
		t.Errorf("%d files, %d copies of %d bytes", first.Files(), n, bytes)
	}
	tables := stream.Tables{Processes: first.Processes()}
	var s summer
	if err := stream.Copy(&s, first.Source(&tables, []stream.ProcessID{1}, 0), stream.CopyOptions{}); err != nil || s.text() != want {
		t.Errorf("%v\n%s\nwant:\n%s", err, s.text(), want)
	}
}

// A profile that is the only one of its kind is as if it had been opened.
func TestAddOne(t *testing.T) {
	data := alike(t, 1)[0]
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
	var a, b Pool
	f, _, err1 := a.Add(open, 1)
	g, err2 := b.Open(open)
	a.Settle()
	if err1 != nil || err2 != nil || fmt.Sprint(f.Processes()) != fmt.Sprint(g.Processes()) || !bytes.Equal(f.kept.samples, g.kept.samples) {
		t.Errorf("%v %v\n%v\n%v", err1, err2, f.Processes(), g.Processes())
	}
}

// The memory that profiles leave behind does not grow with the number of their like, once they are known to repeat.
func TestAddMemory(t *testing.T) {
	one := alike(t, 1)[0]
	var p Pool
	after := map[int]int64{}
	for i := range 100 {
		data := append(slices.Clone(one), profileproto.ProfileTime<<3, byte(i+1)) // at another time
		f, ok, err := p.Add(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }, 1)
		if !ok || err != nil || (f != nil) != (i == 0) {
			t.Fatal(f, ok, err)
		}
		after[i] = p.bytes()
	}
	if after[99] != after[9] {
		t.Errorf("%d bytes after 100 files, %d after 10", after[99], after[9])
	}
}
