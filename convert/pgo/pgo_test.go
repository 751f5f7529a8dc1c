package pgo

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/pprof/profile"

	"gprof/convert/internal/pipeline"
	"gprof/stream"
	"gprof/stream/filter"
	"gprof/stream/streamtest"
)

// program makes stacks of functions "name+line"; each begins 10 lines before.
type program struct {
	*streamtest.Builder
	main *streamtest.Process
}

func newProgram() *program {
	b := streamtest.NewBuilder()
	return &program{b, b.Process(stream.Process{Instance: 1, Pid: 1, Name: "p"})}
}

func (p *program) frame(name string, line int32) stream.Frame {
	return stream.Frame{Function: p.Tables.Strings.Intern(name), Start: 100, Line: 100 + line, Offset: uint64(line)}
}

func (p *program) sample(weight, cpu int64, frames ...stream.Frame) {
	p.main.Main.Add(streamtest.Row{Time: 1, Stack: p.StackOf(frames...), Weight: weight, CPU: cpu})
}

// calls writes a profile, and returns its calls and what the ledger says.
func (p *program) calls(t *testing.T, weights ...Weight) (calls map[string]int64, ledger string, size int) {
	t.Helper()
	var file bytes.Buffer
	pipe, err := pipeline.New(&file, pipeline.Options{Jobs: 1})
	if err != nil {
		t.Fatal(err)
	}
	sink := New(pipe, Options{Weights: weights})
	if err := stream.Copy(streamtest.Validate(sink), p.Source(), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	size = file.Len()
	got, err := profile.Parse(&file)
	if err != nil {
		t.Fatal(err)
	}
	if err := got.CheckValid(); err != nil {
		t.Fatal(err)
	}
	calls = map[string]int64{}
	last := int64(1 << 62)
	for _, s := range got.Sample {
		if s.Value[0] > last || len(s.Location) != 2 {
			t.Errorf("%+v behind %d", s, last)
		}
		last = s.Value[0]
		caller := s.Location[1].Line[0]
		calls[fmt.Sprintf("%s+%d %s", caller.Function.Name, caller.Line-caller.Function.StartLine, s.Location[0].Line[0].Function.Name)] += last
	}
	for _, l := range sink.tables.Ledger.Lines() {
		ledger += fmt.Sprintln(l.Count, l.What, l.Where)
	}
	return calls, ledger, size
}

// The innermost two addresses count, with what is inlined there; labels don't part a call.
func TestCalls(t *testing.T) {
	p := newProgram()
	inlined := func(name string, line, at, depth int32) stream.Frame {
		f := p.frame(name, line)
		f.Offset, f.Depth = uint64(at), depth
		return f
	}
	p.sample(1, 5, p.frame("main", 1), p.frame("serve", 2), inlined("inner", 7, 2, 1), p.frame("leaf", 3), inlined("round", 8, 3, 1))
	p.sample(1, 7, p.frame("serve", 2), stream.Frame{Label: true, Function: p.Tables.Strings.Intern("request")}, p.frame("copy", 9))
	p.sample(1, 11, p.frame("alone", 1))
	p.sample(1, 13) // without a stack
	nameless := p.frame("", 4)
	p.sample(1, 17, p.frame("serve", 2), nameless, p.frame("leaf", 3))
	p.sample(1, 19, p.frame("serve", -30), p.frame("leaf", 3))
	want := map[string]int64{"serve+2 inner": 5, "inner+7 leaf": 5, "leaf+3 round": 5, "serve+2 copy": 7, "serve+-30 leaf": 19}
	got, ledger, _ := p.calls(t)
	if diff := cmp.Diff(want, got); diff != "" || ledger != "" {
		t.Error(diff, ledger)
	}
}

// A call that is twice in what counts has its weight once, and a frame does not call itself.
func TestRecursion(t *testing.T) {
	p := newProgram()
	at := func(name string, depth int32) stream.Frame {
		f := p.frame(name, 3)
		f.Offset, f.Depth = 9, depth
		return f
	}
	p.sample(1, 10, at("a", 0), at("b", 1), at("a", 2), at("b", 3))
	p.sample(1, 1, p.frame("f", 2), p.frame("f", 2))
	p.sample(1, 2, p.frame("f", 2), p.frame("f", 5))
	want := map[string]int64{"a+3 b": 20, "b+3 a": 10, "f+2 f": 2}
	if got, _, _ := p.calls(t); cmp.Diff(want, got) != "" { // depths differ, so a and b are frames of their own
		t.Error(cmp.Diff(want, got))
	}
}

// Without all CPU times samples count. What has no line to count from is lost, and said.
func TestWeights(t *testing.T) {
	p := newProgram()
	unknown := p.frame("old", 4)
	unknown.Start = 0
	p.sample(3, 10, p.frame("a", 1), p.frame("b", 2))
	p.sample(4, -1, p.frame("a", 1), p.frame("c", 2))
	p.sample(5, 10, unknown, p.frame("c", 2))
	got, ledger, _ := p.calls(t)
	if diff := cmp.Diff(map[string]int64{"a+1 b": 3, "a+1 c": 4}, got); diff != "" || !strings.HasPrefix(ledger, "1 calls by functions of which is unknown") {
		t.Error(diff, ledger)
	}
}

// A profile is bounded: the calls that weigh least are left out, and their share is said.
func TestBound(t *testing.T) {
	p := newProgram()
	const calls = 40_000
	for i := range calls {
		p.sample(1, int64(1+i), p.frame(fmt.Sprintf("example.com/much/longer/path.(*Type%d).Method", i), 1), p.frame(fmt.Sprintf("example.com/path.function%d", i), 2))
	}
	got, ledger, size := p.calls(t)
	if size > MaxBytes+1024 || len(got) < calls/4 || len(got) == calls {
		t.Errorf("%d bytes, %d calls", size, len(got))
	}
	left, all := int64(calls-len(got)), int64(calls)
	if want := fmt.Sprintf("%d calls that weigh least, together %.2g %% of all", left, 100*float64(left*(left+1))/float64(all*(all+1))); !strings.HasPrefix(ledger, want) {
		t.Errorf("%s, want %s", ledger, want)
	}
}

// With a weight each service counts the same, and those that it fits more: all together as much as before. A version may have
// a weight of its own, and the first that fits counts.
func TestShares(t *testing.T) {
	build := func() *program {
		p := newProgram()
		process := func(service, version string, calls map[string]int64) {
			p.main = p.Process(stream.Process{Instance: uint64(len(p.Tables.Processes) + 1), Pid: 7, Service: service, Version: version})
			for name, weight := range calls {
				p.sample(1, weight, p.frame("a", 1), p.frame(name, 2))
			}
		}
		process("big", "1.0", map[string]int64{"b": 900})
		process("big", "1.1", map[string]int64{"c": 100})
		process("small", "1.0", map[string]int64{"d": 120, "e": 30})
		process("tiny", "", map[string]int64{"e": 50})
		return p
	}
	for _, c := range []struct {
		weights    []Weight
		b, c, d, e int64
	}{
		{nil, 900, 100, 120, 80},
		{[]Weight{{"*", 1}}, 360, 40, 320, 80 + 400},
		{[]Weight{{"small", 2}}, 270, 30, 480, 120 + 300},
		{[]Weight{{"big 1.1*", 3}}, 200, 600, 160, 40 + 200},
		{[]Weight{{"big", 3}, {"big 1.1*", 7}}, 648, 72, 192, 48 + 240},
		{[]Weight{{"big 1.1*", 2}, {"big", 1}, {"tiny", 0.5}, {"*", 0.5}}, 300, 600, 120, 30 + 150},
	} {
		want := map[string]int64{"a+1 b": c.b, "a+1 c": c.c, "a+1 d": c.d, "a+1 e": c.e}
		if got, _, _ := build().calls(t, c.weights...); cmp.Diff(want, got) != "" {
			t.Errorf("%v: %s", c.weights, cmp.Diff(want, got))
		}
	}
	pipe, err := pipeline.New(io.Discard, pipeline.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = stream.Copy(New(pipe, Options{Weights: []Weight{{"smal", 2}}}), build().Source(), stream.CopyOptions{})
	if !errors.Is(err, filter.ErrNoMatch) || !strings.Contains(err.Error(), "small 1.0") {
		t.Errorf("%v", err)
	}
}
