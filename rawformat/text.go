package rawformat

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// The text twin of a block is one line:
//
//	instant event=3 stack=0 time=+35 args=(12 7u 1.5f "path")
//
// Field types: U and X are decimal, S and T have a sign, B is a Go string
// literal, P is [0x401000 0x402000]; arguments are signed decimal, decimal with
// u, a number with f (or its bits, 0x…f, if it is not finite), or a string literal. A block
// that this form cannot reproduce byte for byte (unknown kind, over-long integer, bytes
// after the last field) is written as
//
//	block 0a0b0c
//
// with its body in hex. The length of a block and the CRC of a record follow from the body;
// for exceptions, package chunks has words.

const rawWord = "block"

// FormatBlock appends the line of a block with that body, without a newline.
func FormatBlock(dst, body []byte) []byte {
	at := len(dst)
	dst, ok := formatFields(dst, body)
	if ok {
		back, err := ParseBlock(nil, string(dst[at:]))
		if err == nil && bytes.Equal(back, body) {
			return dst
		}
	}
	dst = append(dst[:at], rawWord+" "...)
	return hex.AppendEncode(dst, body)
}

func formatFields(dst, body []byte) ([]byte, bool) {
	if len(body) == 0 || !Kind(body[0]).Known() {
		return dst, false
	}
	spec := &Kinds[body[0]]
	c := NewCursor(body[1:], 0)
	dst = append(dst, spec.Name...)
	for _, f := range spec.Fields {
		dst = append(append(append(dst, ' '), f.Name...), '=')
		dst = formatField(dst, &c, f)
	}
	return dst, c.Err() == nil && c.Len() == 0
}

func formatField(dst []byte, c *Cursor, f Field) []byte {
	switch f.Type {
	case Uint:
		return strconv.AppendUint(dst, c.Uint(f.Name), 10)
	case Sint, Time, Coarse:
		return appendSigned(dst, c.Sint(f.Name))
	case Fixed:
		return strconv.AppendUint(dst, c.Fixed(f.Name), 10)
	case Text:
		return strconv.AppendQuote(dst, string(c.Text(f.Name)))
	case PCs:
		dst = append(dst, '[')
		for i, pc := range c.PCs(nil, f.Name) {
			if i > 0 {
				dst = append(dst, ' ')
			}
			dst = strconv.AppendUint(append(dst, "0x"...), pc, 16)
		}
		return append(dst, ']')
	case ArgSet:
		dst = append(dst, '(')
		for i, a := range c.Args(nil, f.Name) {
			if i > 0 {
				dst = append(dst, ' ')
			}
			dst = formatArg(dst, a)
		}
		return append(dst, ')')
	}
	panic("internal error: field type without text form")
}

func appendSigned(dst []byte, v int64) []byte {
	if v >= 0 {
		dst = append(dst, '+')
	}
	return strconv.AppendInt(dst, v, 10)
}

func formatArg(dst []byte, a Arg) []byte {
	switch a.Wire {
	case WireSint:
		return strconv.AppendInt(dst, int64(a.Num), 10)
	case WireUint:
		return append(strconv.AppendUint(dst, a.Num, 10), 'u')
	case WireFloat:
		v := math.Float64frombits(a.Num)
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return append(strconv.AppendUint(append(dst, "0x"...), a.Num, 16), 'f')
		}
		return append(strconv.AppendFloat(dst, v, 'g', -1, 64), 'f')
	}
	return strconv.AppendQuote(dst, string(a.Text))
}

// ParseBlock appends the body of the block that line describes. The error is an
// [*Error] of class [ErrSyntax] or [ErrKind] whose offset is the column.
func ParseBlock(dst []byte, line string) ([]byte, error) {
	p := lineParser{line: line}
	word := p.word()
	if word == rawWord {
		body, err := hex.DecodeString(p.word())
		if err != nil || len(body) == 0 || len(body) > MaxBlock {
			return dst, p.fail("block bytes", ErrSyntax)
		}
		return append(dst, body...), p.end()
	}
	kind, ok := KindOf(word)
	if !ok {
		return dst, p.fail("kind "+strconv.Quote(word), ErrKind)
	}
	dst = append(dst, byte(kind))
	for _, f := range Kinds[kind].Fields {
		dst = p.field(dst, f)
	}
	return dst, p.end()
}

// lineParser reads words of a line and remembers the first error.
type lineParser struct {
	line string
	at   int
	err  error
}

func (p *lineParser) fail(what string, class error) error {
	if p.err == nil {
		p.err = &Error{int64(p.at), what, class}
	}
	return p.err
}

func (p *lineParser) end() error {
	p.space()
	if p.err == nil && p.at < len(p.line) {
		p.fail(fmt.Sprintf("unexpected %q", p.line[p.at:]), ErrSyntax)
	}
	return p.err
}

func (p *lineParser) space() {
	for p.at < len(p.line) && p.line[p.at] == ' ' {
		p.at++
	}
}

// word reads up to the next space or closing bracket.
func (p *lineParser) word() string {
	p.space()
	rest := p.line[p.at:]
	if i := strings.IndexAny(rest, " )]"); i >= 0 {
		rest = rest[:i]
	}
	p.at += len(rest)
	return rest
}

func (p *lineParser) expect(s string) {
	p.space()
	if !strings.HasPrefix(p.line[p.at:], s) {
		p.fail("want "+s, ErrSyntax)
		return
	}
	p.at += len(s)
}

func (p *lineParser) peek(c byte) bool {
	p.space()
	return p.at < len(p.line) && p.line[p.at] == c
}

func (p *lineParser) field(dst []byte, f Field) []byte {
	p.expect(f.Name + "=")
	if p.err != nil {
		return dst
	}
	switch f.Type {
	case Uint:
		return AppendUint(dst, p.uint(p.word()))
	case Sint, Time, Coarse:
		return AppendSint(dst, p.int(p.word()))
	case Fixed:
		return AppendFixed(dst, p.uint(p.word()))
	case Text:
		return AppendText(dst, p.quoted())
	case PCs:
		return AppendPCs(dst, p.pcs())
	case ArgSet:
		return AppendArgs(dst, p.args())
	}
	panic("internal error: field type without text form")
}

func (p *lineParser) uint(s string) uint64 {
	v, err := strconv.ParseUint(s, 0, 64)
	if err != nil {
		p.fail("number "+strconv.Quote(s), ErrSyntax)
	}
	return v
}

func (p *lineParser) int(s string) int64 {
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		p.fail("number "+strconv.Quote(s), ErrSyntax)
	}
	return v
}

func (p *lineParser) quoted() string {
	p.space()
	q, err := strconv.QuotedPrefix(p.line[p.at:])
	if err != nil {
		p.fail("string", ErrSyntax)
		return ""
	}
	s, err := strconv.Unquote(q)
	if err != nil || len(s) > MaxText {
		p.fail("string", ErrSyntax)
		return ""
	}
	p.at += len(q)
	return s
}

func (p *lineParser) pcs() (pcs []uint64) {
	p.expect("[")
	for p.err == nil && !p.peek(']') && len(pcs) <= MaxStack {
		pcs = append(pcs, p.uint(p.word()))
	}
	p.expect("]")
	return pcs
}

func (p *lineParser) args() (args []Arg) {
	p.expect("(")
	for p.err == nil && !p.peek(')') && len(args) <= MaxArgs {
		args = append(args, p.arg())
	}
	p.expect(")")
	return args
}

func (p *lineParser) arg() Arg {
	if p.peek('"') {
		return String(p.quoted())
	}
	s := p.word()
	switch {
	case strings.HasPrefix(s, "0x") && strings.HasSuffix(s, "f"):
		return Arg{Wire: WireFloat, Num: p.uint(s[:len(s)-1])}
	case strings.HasSuffix(s, "f"):
		v, err := strconv.ParseFloat(s[:len(s)-1], 64)
		if err != nil {
			p.fail("number "+strconv.Quote(s), ErrSyntax)
		}
		return Float(v)
	case strings.HasSuffix(s, "u"):
		return Uint64(p.uint(s[:len(s)-1]))
	}
	return Int(p.int(s))
}
