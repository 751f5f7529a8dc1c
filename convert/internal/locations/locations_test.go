package locations

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"gprof/stream"
)

// Stacks are encoded correctly, also when the memory for earlier encodings is full.
func TestEncode(t *testing.T) {
	const depth, leaves = 60_000, 200 // more than is held, as most numbers have two bytes
	var tables stream.Tables
	var frames []stream.FrameID
	for i := range 400 {
		frames = append(frames, tables.Frames.Intern(stream.Frame{Function: tables.Strings.Intern(fmt.Sprint("f", i))}))
	}
	stack := stream.StackID(0)
	for i := range depth {
		stack = tables.Stacks.Intern(stack, frames[i%len(frames)])
	}
	var l Table
	l.Build(&tables)
	trunk := slices.Concat(l.Encode(stack))
	for i := range leaves {
		leaf := tables.Stacks.Intern(stack, frames[i])
		l.at, l.known = append(l.at, 0), append(l.known, 0)
		want := append(binary.AppendUvarint(nil, uint64(l.single(frames[i]))), trunk...)
		for range 2 {
			if got := slices.Concat(l.Encode(leaf)); !bytes.Equal(got, want) {
				t.Fatalf("leaf %d: %d bytes, want %d that begin with % x", i, len(got), len(want), want[:4])
			}
		}
	}
	if len(trunk) < depth || len(l.encoded) > maxEncoded+len(trunk)+8 || len(l.encoded) > (leaves-1)*len(trunk) {
		t.Errorf("%d bytes are held, of stacks of %d", len(l.encoded), len(trunk))
	}
	if got := slices.Concat(l.Encode(0)); len(got) > 0 {
		t.Errorf("no stack is % x", got)
	}
}

// Stacks that branch off each other anywhere are encoded as if each was alone, in a part of the memory.
func TestEncodeBranches(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var tables stream.Tables
	frame := func(i int) stream.FrameID {
		return tables.Frames.Intern(stream.Frame{Function: tables.Strings.Intern(fmt.Sprint("f", i))})
	}
	stacks := []stream.StackID{0}
	for range 20_000 {
		parent := stacks[len(stacks)-1]
		if r.IntN(8) == 0 {
			parent = stacks[r.IntN(len(stacks))]
		}
		stacks = append(stacks, tables.Stacks.Intern(parent, frame(1+r.IntN(300))))
	}
	var l Table
	l.Build(&tables)
	all, known := 0, map[stream.StackID]bool{}
	for range 20_000 {
		stack := stacks[r.IntN(len(stacks))]
		got := slices.Concat(l.Encode(stack))
		var want []byte
		for id := stack; id != 0; {
			var frame stream.FrameID
			id, frame = tables.Stacks.At(id)
			want = binary.AppendUvarint(want, uint64(l.single(frame)))
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("stack %d is % x, want % x", stack, got, want)
		}
		if !known[stack] {
			known[stack] = true
			all += len(want) + 1
		}
	}
	if len(l.encoded) > all/2 {
		t.Errorf("%d bytes are held, of stacks of %d together", len(l.encoded), all)
	}
}
