// Package extent finds where JSON values end, which is most of the work of reading a large file whose values are read one by one: by
// bytedance/sonic where its machine code runs, else by a loop of its own. Both give the same for any bytes.
//
// A value is not checked. An object or list ends at the bracket that closes its own kind, outside of strings; what brackets of the
// other kind do does not matter. A backslash takes the special meaning of a quote after it, in strings and outside. Values in
// values are bounded by MaxDepth.
//
// sonic is given no more than block bytes at once, of memory that nobody else writes to: its code can't be interrupted, so a collection of
// garbage would wait for it, and it would not survive a mapped file that is cut.
package extent

import "bytes"

// MaxDepth bounds the brackets of one kind within each other.
const MaxDepth = 1 << 16

const (
	// block bounds the bytes that sonic reads at once. Brackets in a block are at most half as deep.
	block = 64 << 10
	// patience is the size up to which our loop finds the end sooner.
	patience = 512
	// near is how far the end of a string is looked for byte by byte.
	near = 24
	// tail is where in a block the end of an element is looked for.
	tail = 2 << 10
)

// Kinds of bytes.
const (
	plain = iota
	bracket
	quote
	slash
)

var kinds = [256]uint8{'{': bracket, '}': bracket, '[': bracket, ']': bracket, '"': quote, '\\': slash}

// words are the bytes of numbers, and of true, false and null.
var words = func() (w [256]bool) {
	for c := range w {
		w[c] = c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c == '-' || c == '+' || c == '.' || c == 'E'
	}
	return w
}()

// Of returns where the value ends that begins at text[pos], or -1 if that is not in the text: the end of a word only shows when
// something follows it. It is -1, too, if no value begins there, or one that is nested deeper than MaxDepth.
func Of(text []byte, pos int) int {
	switch c := text[pos]; {
	case words[c]:
		for pos++; pos < len(text); pos++ {
			if !words[text[pos]] {
				return pos
			}
		}
	case c == '"':
		if end := ofString(text, pos+1); end <= len(text) {
			return end
		}
	case c == '{', c == '[':
		return ofNested(text, pos)
	}
	return -1
}

func ofNested(text []byte, pos int) int {
	n := Begin(text[pos])
	next, ended := n.find(text[:min(len(text), pos+patience)], pos+1)
	if !ended && len(text) > pos+patience {
		if end := native(text[pos:min(len(text), pos+block)]); end > 0 {
			return pos + end
		}
		next, ended = n.find(text, next)
	}
	if !ended {
		return -1
	}
	return next
}

// ofString returns where a string ends of which text[pos] is not the beginning; more than len(text) if it isn't there: by so many
// bytes more than 1 as an escape reaches beyond the text.
func ofString(text []byte, pos int) int {
	for close := min(len(text), pos+near); pos < close; pos++ {
		switch text[pos] {
		case '"':
			return pos + 1
		case '\\':
			pos++
		}
	}
	for pos < len(text) {
		rest := text[pos:]
		end := bytes.IndexByte(rest, '"')
		if end < 0 {
			end = len(rest)
		}
		if escape := bytes.IndexByte(rest[:end], '\\'); escape >= 0 {
			pos += escape + 2
			continue
		}
		if pos += end; pos < len(text) {
			return pos + 1
		}
	}
	return pos + 1
}

// Nested is an object or list of which a part was read.
type Nested struct {
	open, close byte
	depth       int  // more than MaxDepth: too deep
	quoted      bool // in a string
	slash       bool // behind a backslash outside of strings
	beyond      int  // bytes of the next part that belong to an escape
}

// Begin returns the object or list whose first byte was read.
func Begin(open byte) Nested { return Nested{open: open, close: open + 2, depth: 1} } // as in ASCII

// TooDeep reports whether reading has ended because of that.
func (n *Nested) TooDeep() bool { return n.depth > MaxDepth }

// Find looks for the end in the next part, text from pos on, and returns what follows it, or else len(text), unless it is too deep.
// It may write to the text meanwhile, and to the byte before, which must be of the same value.
func (n *Nested) Find(text []byte, pos int) (next int, ended bool) {
	next, ended = n.find(text[:min(len(text), pos+patience)], pos)
	for next < len(text) && !ended && !n.TooDeep() {
		pos = next
		end := min(len(text), pos+block)
		if next, ended = n.findNative(text, pos, end); next == pos {
			next, ended = n.find(text[:end], pos)
		}
	}
	return next, ended
}

// FindOnly is Find without writing to the text, by our loop.
func (n *Nested) FindOnly(text []byte, pos int) (next int, ended bool) { return n.find(text, pos) }

// findNative is find by sonic, as far as that can tell what is in a block: where no string or element is cut off.
//
// It has no way to begin in the middle of a value, nor to say how deep it is at the end of the text. So it is asked for the end of a list
// that begins with the byte before the block, which becomes a bracket meanwhile, and ends with one that is put behind the last
// element. If it finds that one, the block has as many that open as close; if it finds an earlier one, that closes one more.
func (n *Nested) findNative(text []byte, pos, end int) (next int, ended bool) {
	if !Native || end-pos < patience || pos == 0 || n.quoted || n.slash || n.beyond > 0 || n.depth > MaxDepth/2 {
		return pos, false
	}
	last := pos + lastEnd(text[pos:end-1])
	if last == pos {
		return pos, false
	}
	before, behind := text[pos-1], text[last]
	text[pos-1], text[last] = n.open, n.close
	size := native(text[pos-1 : last+1])
	text[pos-1], text[last] = before, behind
	switch next = pos - 1 + size; {
	case size <= 0:
		return pos, false
	case next == last+1:
		return last, false
	}
	n.depth--
	return next, n.depth == 0
}

// lastEnd is what follows the last element in a text, probably, or else its last comma; 0 if there is none nearby.
func lastEnd(text []byte) int {
	from := max(0, len(text)-tail)
	last := bytes.LastIndexAny(text[from:], "}]")
	if last < 0 {
		last = bytes.LastIndexByte(text[from:], ',')
	}
	if last < 0 {
		return 0
	}
	return from + last + 1
}

// find is Find by our loop.
func (n *Nested) find(text []byte, pos int) (next int, ended bool) {
	for pos += n.beyond; pos < len(text); {
		if n.quoted {
			pos = n.unquote(text, pos)
			continue
		}
		c := text[pos]
		pos++
		if n.slash {
			if n.slash = false; c == '"' || c == '\\' {
				continue
			}
		}
		switch kinds[c] {
		case bracket:
			if c == n.open {
				if n.depth++; n.TooDeep() {
					n.beyond = 0
					return pos, false
				}
			} else if c == n.close {
				if n.depth--; n.depth == 0 {
					return pos, true
				}
			}
		case quote:
			n.quoted = true
		case slash:
			n.slash = true
		}
	}
	n.beyond = pos - len(text)
	return len(text), false
}

// unquote goes to the end of a string; if that is not in the text, to len(text), or beyond if an escape does.
func (n *Nested) unquote(text []byte, pos int) int {
	end := ofString(text, pos)
	if n.quoted = end > len(text); n.quoted {
		end--
	}
	return end
}
