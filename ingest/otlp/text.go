package otlp

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"

	"gprof/ingest/internal/damage"
	"gprof/ingest/internal/jsonfile"
	"gprof/ingest/internal/messages"
	"gprof/rawformat/otlpproto"
	"gprof/rawformat/protobuf"
)

// documents reads a file that is JSON, message by message: it is one, or has one on each line.
type documents struct {
	scan  *jsonfile.Scanner
	ended bool // the stream, at its end
	in    io.Reader
}

// newDocuments reads a stream, which begins at an offset of the file and has size bytes at most.
func newDocuments(in io.Reader, off, size int64) *documents {
	t := &documents{in: in}
	t.scan = jsonfile.NewScanner(t, off, min(size, math.MaxInt64-off)+off)
	return t
}

// ReadAt reads on: a scanner asks for one byte after the other.
func (t *documents) ReadAt(p []byte, _ int64) (int, error) {
	n, err := io.ReadAtLeast(t.in, p, 1)
	t.ended = err == io.EOF
	return n, err
}

// next begins the next message; nil at the end of the file.
func (t *documents) next() *message {
	if t.scan.Kind() == jsonfile.None && t.ended {
		return nil
	}
	return &message{scan: t.scan, from: t.scan.Off(), levels: make([]level, 0, maxSniffed)}
}

// message reads the fields of a message that is JSON, as [messages.Reader] does those of protobuf.
type message struct {
	scan   *jsonfile.Scanner
	from   int64
	way    func(depth, number int) messages.Way
	begun  bool
	levels []level // messages that are being read, the outermost first
	depth  int     // of the field that was read last
	field  protobuf.Field
	body   []byte // of it
	later  int64  // fields of a later version
	err    error
}

// level is a message that is being read, maybe in a list of it.
type level struct {
	of   otlpproto.Type
	list *otlpproto.Field
}

// Offset is where the next field begins, in the message.
func (m *message) Offset() int64 { return m.scan.Off() - m.from }

// Depth is the number of messages that were entered around the field that was read last.
func (m *message) Depth() int { return m.depth }

// Ended reports whether the message of that depth, from 1, which was entered, is read to its end.
func (m *message) Ended(depth int) bool {
	m.settle()
	return len(m.levels) <= depth
}

// settle goes past the ends of lists and messages of which all was read.
func (m *message) settle() {
	for len(m.levels) > 0 {
		top := &m.levels[len(m.levels)-1]
		switch {
		case top.list != nil && m.scan.Closes(']'):
			top.list = nil
		case top.list == nil && m.scan.Closes('}'):
			m.levels = m.levels[:len(m.levels)-1]
		default:
			return
		}
	}
}

// Read reads a field, which is valid until the next call. It returns io.EOF at the end, else a [damage.Error].
func (m *message) Read() (*protobuf.Field, error) {
	if !m.begun {
		m.begun = m.scan.Object()
		m.levels = append(m.levels, level{of: otlpproto.Data})
	}
	for m.err == nil {
		m.settle()
		if m.err = m.scan.Err(); m.err == nil && len(m.levels) == 0 {
			return nil, io.EOF
		}
		if f := m.next(); f != nil && m.err == nil {
			m.value(f)
			if m.err = cmp.Or(m.err, m.scan.Err()); m.err == nil {
				return &m.field, nil
			}
		}
	}
	return nil, damaged(m.err)
}

// next goes to the next value; nil if there is none to read here.
func (m *message) next() *otlpproto.Field {
	top := &m.levels[len(m.levels)-1]
	m.depth = len(m.levels) - 1
	if top.list != nil {
		m.scan.More()
		return top.list
	}
	key, ok := m.scan.Key()
	if !ok {
		return nil
	}
	f := top.of.ByName(string(key))
	switch {
	case f == nil:
		m.later++
		m.scan.Skip()
	case m.scan.Kind() == jsonfile.Null:
		m.scan.Skip()
	case f.Repeated && f.Kind > otlpproto.Double:
		m.scan.Array()
		top.list = f
	default:
		return f
	}
	return nil
}

// value reads a value of a field.
func (m *message) value(f *otlpproto.Field) {
	m.field.Set(uint64(f.Number)<<3|protobuf.Bytes, 0)
	way := messages.Whole
	if m.way != nil && f.Has(protobuf.Bytes) {
		way = m.way(m.depth, f.Number)
	}
	switch way {
	case messages.Inner:
		m.scan.Object()
		m.levels = append(m.levels, level{of: f.Of})
		return
	case messages.Past:
		m.scan.Skip()
		return
	}
	ahead, off := m.scan.Ahead()
	body, n, later, err := f.AppendProto(m.body[:0], ahead)
	if err == nil && later == 0 && n < len(ahead) {
		m.scan.Pass(n)
	} else { // it is not all there, or not so simple
		text := m.scan.Raw()
		if m.scan.Err() != nil {
			return
		}
		body, n, later, err = f.AppendProto(m.body[:0], text)
		if err == nil && n < len(text) {
			err = &otlpproto.OffsetError{Off: n, Err: otlpproto.ErrJSON}
		}
	}
	m.body, m.later = body, m.later+later
	if at, ok := errors.AsType[*otlpproto.OffsetError](err); ok {
		m.err = &damage.Error{Off: off + int64(at.Off), Err: fmt.Errorf("%w: %w", damage.ErrDamaged, err)}
		return
	}
	tag, number, n := protobuf.ParseHeader(body)
	if n <= 0 {
		return // a list without an element
	}
	if m.field.Set(tag, number); m.field.Wire == protobuf.Bytes {
		m.field.Bytes = body[n:]
	}
}

// damaged is an error of a scanner in terms of package damage.
func damaged(err error) error {
	at, ok := errors.AsType[*damage.Error](err)
	if ok && (errors.Is(err, jsonfile.ErrSyntax) || errors.Is(err, jsonfile.ErrDepth)) {
		return &damage.Error{Off: at.Off, Err: fmt.Errorf("%w: %w", damage.ErrDamaged, at.Err)}
	}
	return err
}
