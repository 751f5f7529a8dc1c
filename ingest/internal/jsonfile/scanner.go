package jsonfile

import (
	"bytes"
	"fmt"
	"io"

	"gprof/ingest/internal/damage"
	"gprof/ingest/internal/extent"
)

// Kind is the kind of a value.
type Kind uint8

const (
	None   Kind = iota // none: the list or object has ended
	Object             // {
	Array              // [
	String             // "
	Number             // 0
	Bool               // true or false
	Null               // null
)

// kinds is by the first byte of a value; other bytes begin no value.
var kinds = [256]Kind{'{': Object, '[': Array, '"': String, 't': Bool, 'f': Bool, 'n': Null, '-': Number,
	'0': Number, '1': Number, '2': Number, '3': Number, '4': Number, '5': Number, '6': Number, '7': Number, '8': Number, '9': Number}

// Scanner reads values one after the other. After the first error everything it reads is empty.
// Slices that it returns are valid until its next call.
type Scanner struct {
	r    io.ReaderAt // nil: all is in buf
	base int64       // offset of buf in the file
	buf  []byte
	pos  int   // in buf
	mark int   // buf from here on is kept; -1 none
	size int64 // of the file
	err  error
	text []byte // scratch
	key  []byte // scratch
}

// NewScanner returns a Scanner of a file of size bytes from off on.
func NewScanner(r io.ReaderAt, off, size int64) *Scanner {
	return &Scanner{r: r, base: off, size: size, mark: -1}
}

// Bytes returns a Scanner of a text at off in some file.
func Bytes(text []byte, off int64) Scanner {
	return Scanner{base: off, buf: text, mark: -1, size: off + int64(len(text))}
}

// Err is what ended the Scanner, if anything.
func (s *Scanner) Err() error { return s.err }

// Off is the current offset in the file.
func (s *Scanner) Off() int64 { return s.base + int64(s.pos) }

// Kind is the kind of the next value, without reading it.
func (s *Scanner) Kind() Kind {
	if !s.space() {
		return None
	}
	return kinds[s.buf[s.pos]]
}

// enter begins the next object or list by its first byte, if it is one.
func (s *Scanner) enter(first byte, want string) bool {
	if !s.space() {
		s.fail(errTorn, "")
		return false
	}
	if s.buf[s.pos] != first {
		s.fail(ErrSyntax, want)
		return false
	}
	s.pos++
	return true
}

// Object begins the next object, to be read by Key.
func (s *Scanner) Object() bool { return s.enter('{', "an object") }

// Array begins the next list, to be read by More.
func (s *Scanner) Array() bool { return s.enter('[', "a list") }

// More reports whether another element follows. If not, the list has ended.
func (s *Scanner) More() bool {
	if !s.separator(']') {
		return false
	}
	if kinds[s.buf[s.pos]] == None {
		s.fail(ErrSyntax, "a value")
		return false
	}
	return true
}

// Key returns the key of the next member, whose value follows. If it is not ok, the object has
// ended.
func (s *Scanner) Key() (key []byte, ok bool) {
	if !s.separator('}') {
		return nil, false
	}
	key = append(s.key[:0], s.Text()...) // what follows may be read into its place
	s.key = key
	if !s.space() {
		s.fail(errTorn, "")
	} else if s.buf[s.pos] != ':' {
		s.fail(ErrSyntax, "a colon")
	} else {
		s.pos++
	}
	return key, s.err == nil
}

// Closes reports whether the next byte ends an object or list, and takes it then.
func (s *Scanner) Closes(end byte) bool {
	if !s.space() || s.buf[s.pos] != end {
		return false
	}
	s.pos++
	return true
}

// separator goes to the next element, or past the closing bracket.
func (s *Scanner) separator(end byte) bool {
	if !s.space() {
		s.fail(errTorn, "")
		return false
	}
	switch s.buf[s.pos] {
	case end:
		s.pos++
		return false
	case ',':
		s.pos++
		if !s.space() {
			s.fail(errTorn, "")
			return false
		}
	}
	return true
}

// space skips white space and reports whether something follows.
func (s *Scanner) space() bool {
	for {
		for ; s.pos < len(s.buf); s.pos++ {
			switch s.buf[s.pos] {
			case ' ', '\n', '\t', '\r':
			default:
				return true
			}
		}
		if !s.fill() {
			return false
		}
	}
}

// fill reads more, and drops what is before mark, or before pos. It reports whether anything came.
func (s *Scanner) fill() bool {
	if s.err != nil || s.r == nil || s.base+int64(len(s.buf)) >= s.size {
		return false
	}
	from := s.pos
	if s.mark >= 0 {
		from = s.mark
	}
	kept := len(s.buf) - from
	if kept > maxText {
		s.fail(errTooBig, "")
		return false
	}
	more := max(min(2*cap(s.buf), window), firstWindow, kept) // most values that are looked up are short
	to := s.buf[:0]
	if want := kept + int(min(int64(more), s.size-s.base-int64(len(s.buf)))); cap(to) < want {
		to = make([]byte, 0, want)
	}
	to = append(to, s.buf[from:]...)
	s.base, s.pos = s.base+int64(from), s.pos-from
	if s.mark >= 0 {
		s.mark = 0
	}
	n, err := s.r.ReadAt(to[kept:cap(to)], s.base+int64(kept))
	if s.buf = to[:kept+n]; n == 0 {
		s.failRead(err)
	}
	return n > 0
}

func (s *Scanner) failRead(err error) {
	if err == nil || err == io.EOF || err == io.ErrUnexpectedEOF {
		err = errTorn
	}
	s.fail(err, "")
}

// fail ends the Scanner.
func (s *Scanner) fail(err error, want string) {
	if s.err == nil {
		if want != "" {
			err = fmt.Errorf("%w: want %s", err, want)
		}
		s.err = &damage.Error{Off: s.Off(), Err: err}
	}
	s.base, s.size = s.Off(), 0
	s.buf, s.pos, s.mark = nil, 0, -1
}

// Ahead is what of the file from the next value on is in memory, and the value's offset.
func (s *Scanner) Ahead() (text []byte, off int64) {
	s.space()
	return s.buf[s.pos:], s.Off()
}

// Pass goes on behind the first n bytes of what is Ahead.
func (s *Scanner) Pass(n int) { s.pos += n }

// Raw returns the JSON of the next value.
func (s *Scanner) Raw() []byte {
	if !s.space() {
		s.fail(errTorn, "")
		return nil
	}
	s.mark = s.pos
	s.Skip()
	if s.err != nil {
		return nil
	}
	text := s.buf[s.mark:s.pos]
	s.mark = -1
	if len(text) > maxText {
		s.fail(errTooBig, "")
		return nil
	}
	return text
}

// Skip skips the next value.
func (s *Scanner) Skip() {
	if !s.space() {
		s.fail(errTorn, "")
		return
	}
	switch kinds[s.buf[s.pos]] {
	case Object, Array:
		s.skipNested()
	case String:
		s.skipString()
	case None:
		s.fail(ErrSyntax, "a value")
	default:
		s.skipWord()
	}
}

// skipWord skips a number, true, false or null.
func (s *Scanner) skipWord() {
	for {
		for ; s.pos < len(s.buf); s.pos++ {
			switch c := s.buf[s.pos]; {
			case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c == '-', c == '+', c == '.', c == 'E':
			default:
				return
			}
		}
		if !s.fill() {
			return
		}
	}
}

func (s *Scanner) skipString() {
	s.pos++
	for {
		rest := s.buf[s.pos:]
		end := bytes.IndexByte(rest, '"')
		if end < 0 {
			end = len(rest)
		}
		if escape := bytes.IndexByte(rest[:end], '\\'); escape >= 0 {
			s.pos += escape
			if s.pos+1 == len(s.buf) && !s.fill() {
				break
			}
			s.pos += 2
			continue
		}
		if s.pos += end; s.pos < len(s.buf) {
			s.pos++
			return
		}
		if !s.fill() {
			break
		}
	}
	s.pos = min(s.pos, len(s.buf))
	s.fail(errTorn, "")
}

// skipNested skips an object or list.
func (s *Scanner) skipNested() {
	n := extent.Begin(s.buf[s.pos])
	s.pos++
	for {
		find := n.Find
		if s.r == nil {
			find = n.FindOnly
		}
		var ended bool
		if s.pos, ended = find(s.buf, s.pos); ended {
			return
		}
		if n.TooDeep() {
			s.fail(ErrDepth, "")
			return
		}
		if !s.fill() {
			s.fail(errTorn, "")
			return
		}
	}
}
