package calls

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gprof/stream"
	"gprof/stream/streamtest"
)

// sink sums up a whole run.
type sink struct {
	name  func(*stream.Tables, stream.Frame) string
	meter Meter
	sums  *Sums
	names *Names
}

func (s *sink) Begin(t *stream.Tables) error {
	keys, names := Keys(t, s.name)
	var err error
	s.sums, err = New(t, keys)
	s.names = names
	s.meter.Give = func(at Place, a Amount) { s.sums.AddAmount(at.Stack, a) }
	return errors.Join(err, s.meter.Begin(t))
}

func (s *sink) Segment(b *stream.Batch) error {
	s.meter.Add(b)
	return nil
}

func (s *sink) Close() error {
	s.meter.End()
	return nil
}

// texts are the sums as lines, in the order of names.
func (s *sink) texts() (lines []string) {
	for _, sum := range s.sums.Take() {
		lines = append(lines, fmt.Sprintf("%s %d/%d/%d %d/%d/%d", s.names.All[sum.Key], sum.Self.Samples, sum.Self.Timed, sum.Self.CPU, sum.Total.Samples, sum.Total.Timed, sum.Total.CPU))
	}
	slices.Sort(lines)
	return lines
}

func sum(t *testing.T, b *streamtest.Builder, name func(*stream.Tables, stream.Frame) string) *sink {
	t.Helper()
	s := &sink{name: name}
	if err := stream.Copy(streamtest.Validate(s), b.Source(), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	return s
}

func check(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("sums\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// The amounts are counted by hand here. Recursion, direct or through another function,
// counts once.
func TestSums(t *testing.T) {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Name: "shop"})
	add := func(at stream.Time, weight, cpu int64, functions ...string) {
		p.Main.Add(streamtest.Row{Time: at, Stack: b.Stack(functions...), Weight: weight, CPU: cpu})
	}
	add(1, 1, 10, "main", "a", "b")
	add(2, 2, 20, "main", "a", "b", "a", "b") // each other
	add(3, 4, 40, "main", "a", "a", "a")      // itself
	add(4, 8, -1, "main", "b")                // CPU time unknown
	add(5, 16, 0)                             // no stack
	s := sum(t, b, Function)
	if want := (Amount{31, 23, 70}); s.sums.All != want {
		t.Errorf("all %v, want %v", s.sums.All, want)
	}
	check(t, s.texts(),
		"(no stack) 16/16/0 16/16/0",
		"a 4/4/40 7/7/70",
		"b 11/3/30 11/3/30",
		"main 0/0/0 15/7/70")
	check(t, s.texts()) // Take empties
}

// Few stacks of many add up to the same as if one walked from each to its root.
func TestFewOfMany(t *testing.T) {
	b := streamtest.NewBuilder()
	r := rand.New(rand.NewPCG(1, 2))
	stacks := []stream.StackID{0}
	p := b.Process(stream.Process{Instance: 1, Name: "shop"})
	for range 5000 {
		name := b.Tables.Strings.Intern(fmt.Sprint("f", r.IntN(20)))
		stack := b.Tables.Stacks.Intern(stacks[max(0, len(stacks)-1-r.IntN(9))], b.Tables.Frames.Intern(stream.Frame{Function: name}))
		if int(stack) == len(stacks) {
			stacks = append(stacks, stack)
		}
		p.Main.Sample(1, stack)
	}
	s := sum(t, b, Function)
	tables := s.sums.tables
	for _, n := range []int{1, 7, len(stacks) / manyStacks, len(stacks) / 2} {
		s.sums.Take()
		self, total := map[Key]int64{}, map[Key]int64{}
		for range n {
			id := stream.StackID(r.IntN(tables.Stacks.Len() + 1))
			s.sums.AddAmount(id, Amount{Samples: 1})
			self[s.sums.key(id)]++
			of := map[Key]bool{s.sums.key(id): true}
			for id != 0 {
				of[s.sums.key(id)] = true
				id, _ = tables.Stacks.At(id)
			}
			for key := range of {
				total[key]++
			}
		}
		sums := s.sums.Take()
		if len(sums) != len(total) {
			t.Errorf("%d stacks: %d sums, want %d", n, len(sums), len(total))
		}
		for _, sum := range sums {
			if sum.Self.Samples != self[sum.Key] || sum.Total.Samples != total[sum.Key] {
				t.Errorf("%d stacks, %s: %d, %d; want %d, %d", n, s.names.All[sum.Key], sum.Self.Samples, sum.Total.Samples, self[sum.Key], total[sum.Key])
			}
		}
	}
}

// Frames can be summed up by other things than functions.
func TestKeys(t *testing.T) {
	b := streamtest.NewBuilder()
	storage := b.Category("Storage", "blue")
	lib := b.Tables.Modules.Intern(stream.Module{Build: "abc", Name: "libc.so.6"})
	text := func(s string) stream.StringID { return b.Tables.Strings.Intern(s) }
	p := b.Process(stream.Process{Instance: 1, Name: "shop"})
	p.Main.Sample(1, b.StackOf(
		stream.Frame{Function: text("net/http.(*conn).serve"), File: text("/go/server.go"), Line: 7},
		stream.Frame{Function: text("shop/store.Map[go.shape.int,a.b/c.T].Get"), File: text("/shop/map.go"), Line: 3, Category: storage},
		stream.Frame{Function: text("parse: a.b"), Label: true},
		stream.Frame{Module: lib, Offset: 16}))
	for name, tt := range map[string]struct {
		of   func(*stream.Tables, stream.Frame) string
		want []string
	}{
		"package":  {Package, []string{"(label)", "libc.so.6", "net/http", "shop/store"}},
		"file":     {File, []string{"(no file)", "/go/server.go", "/shop/map.go"}},
		"line":     {Line, []string{"/go/server.go:7 net/http.(*conn).serve", "/shop/map.go:3 shop/store.Map[go.shape.int,a.b/c.T].Get", "libc.so.6+0x10", "parse: a.b"}},
		"category": {Category, []string{"Other", "Storage"}},
		"module":   {Module, []string{"(no module)", "libc.so.6"}},
		"function": {SameFunction, []string{"libc.so.6 (no name)", "net/http.(*conn).serve", "parse: a.b", "shop/store.Map[go.shape.int,a.b/c.T].Get"}},
	} {
		s := sum(t, b, tt.of)
		var got []string
		for _, sum := range s.sums.Take() {
			got = append(got, s.names.All[sum.Key])
			if sum.Total.Samples != 1 {
				t.Errorf("%s: %s has %d samples", name, s.names.All[sum.Key], sum.Total.Samples)
			}
		}
		slices.Sort(got)
		check(t, got, tt.want...)
	}
}

// A stack may be deep: the walk does not grow with the depth of a recursion.
func TestDeepRecursion(t *testing.T) {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Name: "shop"})
	p.Main.Sample(1, b.Stack(slices.Repeat([]string{"a", "b"}, 50_000)...))
	check(t, sum(t, b, Function).texts(), "a 0/0/0 1/0/0", "b 1/0/0 1/0/0")
}

// Sums stop at the largest number.
func TestLargest(t *testing.T) {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Name: "shop"})
	for at := range stream.Time(3) {
		p.Main.Add(streamtest.Row{Time: at, Stack: b.Stack("a", "b"), Weight: 1<<62 + 1, CPU: 1<<62 + 1})
	}
	const most = "9223372036854775807"
	check(t, sum(t, b, Function).texts(), "a 0/0/0 "+most+"/"+most+"/"+most, "b "+strings.Repeat(most+"/", 2)+most+" "+strings.Repeat(most+"/", 2)+most)
}

// A function of Go's assembler may have a name without its package, which its file tells.
func TestPackageOfAssembly(t *testing.T) {
	for file, want := range map[string]string{
		"/usr/local/go/src/internal/bytealg/equal_amd64.s": "internal/bytealg", "runtime/asm_amd64.s": "runtime",
		"/go/pkg/mod/github.com/x/sum@v1.2.3/sum_amd64.s": "github.com/x/sum",
		"github.com/x/sum@v1.2.3/block/sum_amd64.s":       "github.com/x/sum/block",
		"/home/me/shop/add.s":                             "", "asm.s": "", "": "", "/src/../sysdeps/x86_64/memcpy.S": "", "/usr/local/go/src/runtime/map.go": "",
	} {
		if got := packageOfAssembly(file); got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}
