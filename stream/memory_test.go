package stream_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"gprof/stream"
	"gprof/stream/streamtest"
)

// growingSource is a source in which each sample has a stack of its own.
type growingSource struct {
	tables    *stream.Tables
	done, all int64
	grow      func(t *stream.Tables, i int64) stream.StackID
}

func newGrowing(all int64, grow func(*stream.Tables, int64) stream.StackID) *growingSource {
	t := &stream.Tables{Processes: []stream.Process{{Instance: 1}}}
	t.Tracks.Intern(stream.Track{Process: 1, Main: true})
	return &growingSource{tables: t, all: all, grow: grow}
}

func (g *growingSource) Next(b *stream.Batch) error {
	if g.done == g.all {
		return io.EOF
	}
	b.Reset(stream.Series{Process: 1, Track: 1, Kind: stream.Samples}, 0)
	for n := min(g.all, g.done+1000); g.done < n; g.done++ {
		b.Time, b.Index = append(b.Time, stream.Time(g.done)), append(b.Index, uint64(g.done))
		b.Stack = append(b.Stack, g.grow(g.tables, g.done))
		b.Weight, b.CPU = append(b.Weight, 1), append(b.CPU, 0)
	}
	return nil
}

func (g *growingSource) Tables() *stream.Tables        { return g.tables }
func (g *growingSource) Progress() (done, total int64) { return g.done, g.all }
func growStacks(t *stream.Tables, i int64) stream.StackID {
	return t.Stacks.Intern(stream.StackID(i), frame(t, "f"))
}

func frame(t *stream.Tables, name string) stream.FrameID {
	return t.Frames.Intern(stream.Frame{Function: t.Strings.Intern(name)})
}

// Copy ends before the ceiling is reached, whichever table grows, and asks for one that
// is enough.
func TestCopyMemory(t *testing.T) {
	for name, grow := range map[string]func(*stream.Tables, int64) stream.StackID{
		"stacks": growStacks,
		"strings": func(t *stream.Tables, i int64) stream.StackID {
			return t.Stacks.Intern(0, frame(t, fmt.Sprint("function", i)))
		},
		"lines": func(t *stream.Tables, i int64) stream.StackID {
			return t.Stacks.Intern(0, t.Frames.Intern(stream.Frame{Function: t.Strings.Intern("f"), Line: int32(i)}))
		},
		"long strings": func(t *stream.Tables, i int64) stream.StackID {
			return t.Stacks.Intern(0, frame(t, strings.Repeat("x", 100)+fmt.Sprint(i)))
		},
		"tracks": func(t *stream.Tables, i int64) stream.StackID {
			t.Tracks.Intern(stream.Track{Process: 1, Name: fmt.Sprint(i)})
			return 0
		},
		"events": func(t *stream.Tables, i int64) stream.StackID {
			t.AddEvent(stream.Event{Name: fmt.Sprint(i), Fields: make([]stream.EventField, 3)})
			return 0
		},
	} {
		const all, have = 120_000, 4 << 20
		err := stream.Copy(stream.Discard, newGrowing(all, grow), stream.CopyOptions{Memory: have, SpillDir: t.TempDir()})
		var tooMuch *stream.ErrMemory
		if !errors.As(err, &tooMuch) || tooMuch.Have != have {
			t.Errorf("%s: got %v, want an ErrMemory", name, err)
			continue
		}
		if err := stream.Copy(stream.Discard, newGrowing(all, grow), stream.CopyOptions{Memory: tooMuch.Need, SpillDir: t.TempDir()}); err != nil {
			t.Errorf("%s: with what is said to be needed: %v", name, err)
		}
		if err := stream.Copy(stream.Discard, newGrowing(all, grow), stream.CopyOptions{Memory: tooMuch.Need / 3, SpillDir: t.TempDir()}); err == nil {
			t.Errorf("%s: a third of the %d bytes said to be needed is enough", name, tooMuch.Need)
		}
	}
}

// A source that interns everything before its first row is told to stop, and the error
// says that more may be needed.
func TestCopyMemoryAtOnce(t *testing.T) {
	left := 0
	grow := func(tables *stream.Tables, i int64) stream.StackID {
		for left = 1 << 20; left > 0 && !tables.Full(); left-- {
			growStacks(tables, int64(tables.Stacks.Len()))
		}
		return 0
	}
	var tooMuch *stream.ErrMemory
	err := stream.Copy(stream.Discard, newGrowing(10, grow), stream.CopyOptions{Memory: 4 << 20})
	if !errors.As(err, &tooMuch) || !tooMuch.Early || tooMuch.Need <= tooMuch.Have {
		t.Errorf("got %v, want an early ErrMemory", err)
	}
	if left < 1<<19 {
		t.Errorf("the source is told to stop when %d stacks are left", left)
	}
	if tooMuch.Processes != 0 {
		t.Errorf("%d processes take the memory, want none", tooMuch.Processes)
	}
}

// Where processes alone are too many, the error says how many there are.
func TestCopyMemoryOfProcesses(t *testing.T) {
	src := newGrowing(10, func(*stream.Tables, int64) stream.StackID { return 0 })
	tables := src.Tables()
	tables.Processes = append(tables.Processes, make([]stream.Process, 5000)...)
	var tooMuch *stream.ErrMemory
	if err := stream.Copy(stream.Discard, src, stream.CopyOptions{Memory: 4 << 20}); !errors.As(err, &tooMuch) || tooMuch.Processes != len(tables.Processes) {
		t.Errorf("got %v (%+v), want an ErrMemory of %d processes", err, tooMuch, len(tables.Processes))
	}
}

// Memory that was too much once stays too much, also when it is given back: rows were
// left out for it.
func TestClaim(t *testing.T) {
	fill := func(claimed ...int64) func(*stream.Tables, int64) stream.StackID {
		return func(tables *stream.Tables, i int64) stream.StackID {
			if i == 0 {
				var claim stream.Claim
				for _, n := range claimed {
					claim.Set(tables, n)
					tables.Full()
				}
			}
			return growStacks(tables, i%10)
		}
	}
	for _, c := range []struct {
		claimed []int64
		fails   bool
	}{{[]int64{3 << 20, 0, 3 << 20, 0}, false}, {[]int64{5 << 20, 0}, true}} {
		err := stream.Copy(stream.Discard, newGrowing(1000, fill(c.claimed...)), stream.CopyOptions{Memory: 4 << 20})
		var tooMuch *stream.ErrMemory
		if errors.As(err, &tooMuch) != c.fails || c.fails && tooMuch.Need < 5<<20 || !c.fails && err != nil {
			t.Errorf("claimed %v: %v", c.claimed, err)
		}
	}
}

// Memory for input that becomes no row is needed once, and the error says so.
func TestClaimInput(t *testing.T) {
	fill := func(tables *stream.Tables, i int64) stream.StackID {
		if i == 0 {
			claim := stream.Claim{Input: true}
			claim.Set(tables, 8<<20)
			claim.Add(tables, -4<<20)
		}
		return growStacks(tables, i%10)
	}
	var tooMuch *stream.ErrMemory
	err := stream.Copy(stream.Discard, newGrowing(1000, fill), stream.CopyOptions{Memory: 4 << 20})
	if !errors.As(err, &tooMuch) || !tooMuch.Input || tooMuch.Need != 9<<20 || !strings.Contains(err.Error(), "what of the input is read at a time") {
		t.Fatalf("the error is %v, want one of the input, that 9 MiB are needed", err)
	}
	if err := stream.Copy(stream.Discard, newGrowing(1000, fill), stream.CopyOptions{Memory: tooMuch.Need}); err != nil {
		t.Errorf("with what is said to be needed: %v", err)
	}
}

// Each kind of row counts by itself, and the row 0 of each kind.
func TestRowBytes(t *testing.T) {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Name: "shop"})
	p.Main.Sample(1, b.Stack("main", "work", "sleep"))
	var count stream.Count
	if err := stream.Copy(&count, b.Source(), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	each := stream.RowBytes{Stack: 1, Frame: 10, String: 100, Label: 1000, Track: 10_000}
	if got, want := each.In(count.Tables), int64(4+40+400+1000+20_000); got != want {
		t.Errorf("%d bytes, want %d", got, want)
	}
}

// hungry is a Sink that takes some bytes for each stack.
type hungry struct {
	stream.Sink
	each int64
}

func (h hungry) Begin(t *stream.Tables) error { return t.Reserve(stream.RowBytes{Stack: h.each}.In(t)) }

// Memory that sinks reserve counts before they take it, for all outputs together. The
// error asks for a ceiling that is enough.
func TestReserve(t *testing.T) {
	const stacks, memory = 20_000, 2 << 20
	copyTo := func(memory int64, sinks ...stream.Sink) error {
		for i := range sinks {
			sinks[i] = stream.NewOutput(sinks[i])
		}
		return stream.Copy(stream.Tee(sinks...), newGrowing(stacks, growStacks), stream.CopyOptions{Memory: memory})
	}
	small, large := hungry{stream.Discard, 30}, hungry{stream.Discard, 200}
	if err := copyTo(memory, small); err != nil {
		t.Errorf("a small output: %v", err)
	}
	for _, sinks := range [][]stream.Sink{{large}, {small, small, small, small}} {
		var tooMuch *stream.ErrMemory
		if err := copyTo(memory, append([]stream.Sink(nil), sinks...)...); !errors.As(err, &tooMuch) || !tooMuch.Output || tooMuch.Have != memory {
			t.Fatalf("%d outputs: %v, want an ErrMemory of the output", len(sinks), err)
		}
		for round := 0; tooLittle(copyTo(tooMuch.Need, append([]stream.Sink(nil), sinks...)...), &tooMuch); round++ {
			if round == len(sinks) { // they ask one by one
				t.Fatalf("%d outputs never have enough: %v", len(sinks), tooMuch)
			}
		}
	}
}

// tooLittle reports whether err is an ErrMemory, and sets to to it.
func tooLittle(err error, to **stream.ErrMemory) bool { return errors.As(err, to) }
