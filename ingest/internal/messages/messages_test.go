package messages

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"gprof/ingest/internal/damage"
	"gprof/rawformat/protobuf"
)

// large is a message with one inside another, in which is a field that is left out.
func large() (message []byte) {
	inner := protobuf.AppendNumber(nil, 1, 300)
	inner = protobuf.AppendBytes(inner, 2, strings.Repeat("x", 3*Window))
	inner = protobuf.AppendBytes(inner, 3, "text")
	outer := protobuf.AppendBytes(nil, 4, inner)
	outer = protobuf.AppendBytes(outer, 5, "whole")
	return protobuf.AppendNumber(protobuf.AppendBytes(nil, 6, outer), 7, 1)
}

func ways(_, number int) Way {
	switch number {
	case 6, 4:
		return Inner
	case 2:
		return Past
	}
	return Whole
}

// fieldsOf are the fields as text, and the error at their end.
func fieldsOf(r *Reader) (all []string, err error) {
	r.Way = ways
	for {
		v, err := r.Read()
		if err != nil {
			return all, err
		}
		all = append(all, fmt.Sprintf("%d: %d %q", r.Depth(), v.Number, v.Bytes))
	}
}

// A message is read field by field, in memory and as a stream, however little comes at once.
func TestRead(t *testing.T) {
	message := large()
	want := []string{`0: 6 ""`, `1: 4 ""`, `2: 1 ""`, `2: 2 ""`, `2: 3 "text"`, `1: 5 "whole"`, `0: 7 ""`}
	for name, r := range map[string]*Reader{"held": Held(message, io.EOF), "stream": New(bytes.NewReader(message)), "bytes": New(iotest.OneByteReader(bytes.NewReader(message)))} {
		got, err := fieldsOf(r)
		if err != io.EOF || strings.Join(got, "\n") != strings.Join(want, "\n") || r.Offset() != int64(len(message)) {
			t.Errorf("%s: %s, %v at %d", name, got, err, r.Offset())
		}
	}
}

// Wherever a message is cut short, the error says so, and what comes before is read.
func TestCutShort(t *testing.T) {
	message := large()
	for _, size := range []int{1, 3, 8, 9, 100, 2 * Window, len(message) - 12, len(message) - 5, len(message) - 2, len(message) - 1} {
		held, err := fieldsOf(Held(message[:size], io.EOF))
		streamed, err2 := fieldsOf(New(bytes.NewReader(message[:size])))
		if size == len(message)-2 { // between two fields
			if err != io.EOF || err2 != io.EOF {
				t.Errorf("%d bytes: %v, %v", size, err, err2)
			}
			continue
		}
		if !errors.Is(err, damage.ErrTorn) || !errors.Is(err2, damage.ErrTorn) || len(held) != len(streamed) {
			t.Errorf("%d bytes: %v, as a stream %v", size, err, err2)
		}
	}
}

// A field can't reach beyond the message that it is in, nor be larger than memory allows.
func TestBadLengths(t *testing.T) {
	inner := protobuf.AppendBytes(nil, 5, "four")
	inner[1]++
	message := append(protobuf.AppendBytes(nil, 6, inner), 0, 0, 0)
	if _, err := fieldsOf(Held(message, io.EOF)); !errors.Is(err, errEnd) {
		t.Errorf("beyond its message: %v", err)
	}
	huge := protobuf.AppendBytes(nil, 5, "")
	huge = append(huge[:1], 0xff, 0xff, 0xff, 0xff, 0x0f)
	for name, r := range map[string]*Reader{"held": Held(huge, io.EOF), "stream": New(bytes.NewReader(huge))} {
		if _, err := fieldsOf(r); !errors.Is(err, damage.ErrTooBig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, number := range []int{6, 2} {
		endless := append(protobuf.AppendTag(nil, number, protobuf.Bytes), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1)
		for name, r := range map[string]*Reader{"held": Held(endless, io.EOF), "stream": New(bytes.NewReader(endless))} {
			if _, err := fieldsOf(r); !errors.Is(err, damage.ErrTorn) {
				t.Errorf("%s: field %d of an endless length: %v", name, number, err)
			}
		}
	}
	broken := errors.New("the disk")
	if _, err := fieldsOf(New(io.MultiReader(bytes.NewReader(large()[:Window]), iotest.ErrReader(broken)))); !errors.Is(err, broken) {
		t.Errorf("%v, want %v", err, broken)
	}
}
