package stream_test

import (
	"errors"
	"testing"

	"gprof/stream"
)

// hungry is a Sink that takes some bytes for each stack.
type hungry struct {
	stream.Sink
	each int64
}

func (h hungry) Begin(t *stream.Tables) error { return t.ReserveStacks(h.each) }

// Memory that sinks take for the tables counts against the ceiling before they take it,
// for all outputs together. The ceiling that the error asks for is enough.
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

// tooLittle says whether err is an ErrMemory, which it sets to.
func tooLittle(err error, to **stream.ErrMemory) bool { return errors.As(err, to) }
