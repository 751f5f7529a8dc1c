package folded

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gprof/convert/internal/pipeline"
	"gprof/stream"
	"gprof/stream/streamtest"
)

func newSink(w io.Writer) stream.Sink {
	out, err := pipeline.New(w, pipeline.Options{Jobs: 2})
	if err != nil {
		panic(err)
	}
	return New(out, "")
}

func convert(t testing.TB, src stream.Source) (string, *stream.Count) {
	t.Helper()
	var out bytes.Buffer
	count := new(stream.Count)
	if err := stream.Copy(stream.Tee(newSink(&out), count), src, stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	return out.String(), count
}

// check reads an output as flamegraph.pl does: up to the last space there are
// names, behind it a number. Each line is there once, in order.
func check(t *testing.T, output []byte) {
	t.Helper()
	var last []string
	for line := range strings.Lines(string(output)) {
		stack, number, ok := cutLast(strings.TrimSuffix(line, "\n"))
		if n, err := strconv.ParseInt(number, 10, 64); !ok || err != nil || n <= 0 {
			t.Errorf("line %q has no number", line)
		}
		names := strings.Split(stack, ";")
		if len(names) < 2 || slices.Contains(names, "") {
			t.Errorf("line %q has an empty name", line)
		}
		if last != nil && slices.Compare(last, names) >= 0 {
			t.Errorf("line %q stands behind %q", line, strings.Join(last, ";"))
		}
		last = names
	}
}

func cutLast(line string) (stack, number string, ok bool) {
	i := strings.LastIndexByte(line, ' ')
	if i < 0 {
		return "", "", false
	}
	return line[:i], line[i+1:], true
}

func TestSink(t *testing.T) { streamtest.TestSink(t, newSink, check) }

// The numbers in the output add up to the samples of the rows, for every case.
func TestTotals(t *testing.T) {
	for _, c := range streamtest.Cases {
		t.Run(c.Name, func(t *testing.T) {
			b := streamtest.NewBuilder()
			c.Build(b)
			output, count := convert(t, b.Source())
			var got int64
			for line := range strings.Lines(output) {
				_, number, _ := cutLast(strings.TrimSuffix(line, "\n"))
				n, _ := strconv.ParseInt(number, 10, 64)
				got += n
			}
			if want := count.Sum(func(s stream.Series) bool { return s.Kind == stream.Samples }).Samples; got != want {
				t.Errorf("%d samples, want %d", got, want)
			}
		})
	}
}

func TestLines(t *testing.T) {
	b := streamtest.NewBuilder()
	exe := b.Tables.Modules.Intern(stream.Module{Build: "c0ffee", Name: "shop"})
	at := func(name string, offset uint64) stream.Frame {
		return stream.Frame{Module: exe, Offset: offset, Function: b.Tables.Strings.Intern(name)}
	}
	second := b.Process(stream.Process{Instance: 2, Pid: 7, Name: "shop", Start: 2})
	first := b.Process(stream.Process{Instance: 1, Pid: 1, Name: "zoo\n;", Start: 1})
	for i := range 2 {
		worker := second.TrackOf(stream.Track{Name: "worker", Start: stream.Time(i)})
		worker.Sample(5, b.StackOf(at("main", 1), at("work", 2)))
		worker.Sample(6, b.StackOf(at("main", 8), at("work", 9))) // elsewhere in the same functions
		worker.Sample(7, b.StackOf(at("main", 8)))
	}
	second.Main.Sample(5, 0)
	second.Main.Sample(6, b.StackOf(at("main", 1), at("a;b\r\nc", 3), stream.Frame{Module: exe, Offset: 0x1f}))
	first.Main.Add(streamtest.Row{Time: 1, Stack: b.StackOf(stream.Frame{Offset: 0xff}), Weight: 40, CPU: -1})
	first.Main.Add(streamtest.Row{Time: 1, Stack: b.StackOf(at("never", 1)), Weight: 0, CPU: 5})
	want := `shop · pid 7;shop 1
shop · pid 7;shop;main;a:b  c;shop+0x1f 1
shop · pid 7;worker;main 2
shop · pid 7;worker;main;work 4
zoo : · pid 1;zoo :;0xff 40
`
	output, _ := convert(t, b.Source())
	if output != want {
		t.Errorf("got:\n%swant:\n%s", output, want)
	}
}

// Sums that do not fit in memory go to a file and come back, and those of
// tracks of the same names are added up. A missing directory for that file is
// an error.
func TestManySums(t *testing.T) {
	const many = 50_000
	b := streamtest.NewBuilder()
	for i := range 2 {
		p := b.Process(stream.Process{Instance: uint64(i + 1), Name: "shop"})
		for n := range uint64(many) {
			p.Main.Sample(stream.Time(n), b.StackOf(stream.Frame{Offset: 1<<20 + n}))
		}
	}
	output, _ := convert(t, b.Source())
	var want strings.Builder
	for n := range many {
		fmt.Fprintf(&want, "shop;shop;0x%x 2\n", 1<<20+n)
	}
	if output != want.String() {
		t.Errorf("got %d bytes, want %d others", len(output), want.Len())
	}
	out, err := pipeline.New(io.Discard, pipeline.Options{Jobs: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Copy(New(out, filepath.Join(t.TempDir(), "missing")), b.Source(), stream.CopyOptions{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no place for sums: %v", err)
	}
}

// The order of names is not that of bytes in a line, nor of ids: callees stand
// behind their caller, whatever else begins with its name.
func TestOrder(t *testing.T) {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Name: "p"})
	for i := range 200 {
		p.Main.Sample(stream.Time(i), b.Stack(fmt.Sprint("f", i*7%13), fmt.Sprint("f", i*5%11), fmt.Sprint("f !", i%3)))
		p.Main.Sample(stream.Time(i), b.Stack(fmt.Sprint("f", i*7%13)))
	}
	output, _ := convert(t, b.Source())
	check(t, []byte(output))
	if n := strings.Count(output, "\n"); n != 13+200 {
		t.Errorf("%d lines, want %d", n, 13+200)
	}
}

func TestLedger(t *testing.T) {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Name: "p"})
	p.Log(1, stream.LogInfo, "hello")
	_, count := convert(t, b.Source())
	lines := count.Tables.Ledger.Lines()
	if len(lines) != 1 || lines[0] != (stream.Line{Process: "0000000000000001", Reason: stream.ReasonNoPlace, What: "logs", Count: 1}) {
		t.Errorf("ledger %v", lines)
	}
}

// A recursion of which each depth was sampled: its lines are cut, and counted.
func TestDeepStacks(t *testing.T) {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Name: "p"})
	frame := b.Tables.Frames.Intern(stream.Frame{Function: b.Tables.Strings.Intern("f")})
	at := stream.StackID(0)
	for i := range stream.Time(maxNames + 3) {
		at = b.Tables.Stacks.Intern(at, frame)
		if i >= maxNames-2 {
			p.Main.Sample(i, at)
		}
	}
	output, count := convert(t, b.Source())
	for line := range strings.Lines(output) {
		if n := strings.Count(line, ";f"); n > maxNames || n < maxNames-1 {
			t.Errorf("a line of %d names", n)
		}
	}
	if lines := count.Tables.Ledger.Lines(); len(lines) != 1 || lines[0].Reason != stream.ReasonCut || lines[0].Count != 3 {
		t.Errorf("ledger %v", lines)
	}
}
