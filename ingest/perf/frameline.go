package perf

import "bytes"

// printedFrame is the line of a frame. Its texts are parts of the line.
type printedFrame struct {
	address      uint64
	symbol, file []byte // empty: unknown
	known        bool   // the address is
	offset       bool   // in the function was told
	inlined      bool
}

var (
	inlinedMark = []byte(" (inlined)")
	unknownName = []byte("[unknown]")
	offsetMark  = []byte("+0x")
)

// isFull reports whether a frame tells its file, and where in it, or that nobody knows.
func (f *printedFrame) isFull() bool {
	return (f.offset || len(f.symbol) == 0) && (len(f.file) > 0 || f.inlined)
}

// parseFrame reads the line of a frame:
//
//	address symbol+offset (file)
//	address symbol+offset (inlined)
//
// perf script -F may leave out what follows the address. It is false if the line is of no
// frame. Symbols hold spaces and parentheses, and so may files, so that the line is read
// from its end.
func parseFrame(line []byte) (f printedFrame, ok bool) {
	text := bytes.Trim(line, " \t")
	n := hexDigits(text)
	if n > 0 && n <= 16 && endsAt(text, n) {
		f.address, f.known = hexadecimal(text[:n]), true
		text = bytes.TrimLeft(text[n:], " ")
	}
	if bytes.HasSuffix(text, inlinedMark) {
		f.inlined = true
		text = text[:len(text)-len(inlinedMark)]
	} else if f.known {
		text, f.file = cutFile(text)
	} else {
		return f, false
	}
	if n := offsetSuffix(text); n > 0 {
		f.offset = true
		text = text[:len(text)-n]
	}
	if !bytes.Equal(text, unknownName) {
		f.symbol = text
	}
	return f, true
}

func hexadecimal(text []byte) (n uint64) {
	for _, c := range text {
		if c >= 'a' {
			c -= 'a' - 10
		}
		n = n<<4 | uint64(c&15)
	}
	return n
}

// offsetSuffix is how long the offset is that a text ends with, 0 if it ends with none.
func offsetSuffix(text []byte) int {
	i := lastOffset(text)
	if i < 0 || i+3 == len(text) || hexDigits(text[i+3:]) != len(text)-i-3 {
		return 0
	}
	return len(text) - i
}

// lastOffset is where the last offset of a text begins, -1 if there is none.
func lastOffset(text []byte) int {
	for at := len(text); ; {
		at = bytes.LastIndexByte(text[:at], '+')
		if at < 0 || bytes.HasPrefix(text[at:], offsetMark) {
			return at
		}
	}
}

// cutFile cuts the file off that a line ends with, in parentheses.
func cutFile(text []byte) (symbol, file []byte) {
	at := fileStart(text)
	if at < 0 {
		return text, nil
	}
	file = text[at+1 : len(text)-1]
	if n := offsetSuffix(file); n > 0 && n < len(file) { // of -F dsoff
		file = file[:len(file)-n]
	}
	if bytes.Equal(file, unknownName) {
		file = nil
	}
	return bytes.TrimRight(text[:at], " "), file
}

// fileStart is where the parenthesis of the file is, -1 if no file is told.
//
//  1. It is behind an offset, if one is told.
//  2. Else it is the one that the last parenthesis closes, unless that is of the symbol:
//     of its arguments, or what compilers add, such as (.cold).
//  3. Names of files may have parentheses without a partner; but they are absolute, or in
//     brackets.
func fileStart(text []byte) int {
	if len(text) == 0 || text[len(text)-1] != ')' {
		return -1
	}
	if i := lastOffset(text); i >= 0 {
		n := i + 3 + hexDigits(text[i+3:])
		if n > i+3 && bytes.HasPrefix(text[n:], []byte(" (")) {
			return n + 1
		}
	}
	if at := partner(text); at == 0 || at > 0 && text[at-1] == ' ' && text[at+1] != '.' {
		return at
	}
	if i := max(bytes.LastIndex(text, []byte(" (/")), bytes.LastIndex(text, []byte(" (["))); i >= 0 {
		return i + 1
	}
	return -1
}

// partner is where the parenthesis is that the last one closes, -1 if there is none.
func partner(text []byte) int {
	depth := 0
	for at := len(text) - 1; at >= 0; at-- {
		switch text[at] {
		case ')':
			depth++
		case '(':
			if depth--; depth == 0 {
				return at
			}
		}
	}
	return -1
}

// isKernel reports whether a frame is of the kernel's code.
func (f *printedFrame) isKernel() bool {
	if f.address >= 1<<63 {
		return true
	}
	if bytes.HasPrefix(f.file, []byte("[kernel")) || bytes.HasPrefix(f.file, []byte("[guest.kernel")) {
		return true
	}
	name := f.file[1+bytes.LastIndexByte(f.file, '/'):]
	return bytes.HasPrefix(name, []byte("vmlinux")) || bytes.HasSuffix(name, []byte(".ko")) || bytes.Contains(name, []byte(".ko."))
}
