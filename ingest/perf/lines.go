package perf

import (
	"bufio"
	"bytes"
	"io"
)

// maxLine bounds a line: names of C++ may be long.
const maxLine = 1 << 20

// lines reads a text line by line.
type lines struct {
	in    *bufio.Reader
	at    int64  // offset of the line
	end   int64  // and of what follows
	line  []byte // without its end; until the next one is read
	long  []byte // the line, where it is longer than in's buffer
	again bool   // line is to be read again
}

// read reads a line. The error is io.EOF, or that of reading.
func (l *lines) read() error {
	if l.again {
		l.again = false
		return nil
	}
	l.at = l.end
	line, err := l.in.ReadSlice('\n')
	l.end += int64(len(line))
	if err == bufio.ErrBufferFull {
		line, err = l.readLong(line)
	}
	if err != nil && (err != io.EOF || len(line) == 0) {
		return err
	}
	l.line = trimEnd(line)
	return nil
}

// trimEnd is a line without its end.
func trimEnd(line []byte) []byte {
	n := len(line)
	for n > 0 && (line[n-1] == '\n' || line[n-1] == '\r') {
		n--
	}
	return line[:n]
}

// readLong reads the rest of a line that begins so. What exceeds maxLine is cut off.
func (l *lines) readLong(begin []byte) ([]byte, error) {
	l.long = append(l.long[:0], begin...)
	for {
		part, err := l.in.ReadSlice('\n')
		l.end += int64(len(part))
		l.long = append(l.long, part[:min(len(part), maxLine-min(maxLine, len(l.long)))]...)
		if err != bufio.ErrBufferFull {
			return l.long, err
		}
	}
}

// isBlank reports whether there is nothing in a line.
func isBlank(line []byte) bool { return len(line) == 0 || len(bytes.TrimSpace(line)) == 0 }

// digits is how many decimal digits a text begins with.
func digits(text []byte) int {
	n := 0
	for n < len(text) && isDigit(text[n]) {
		n++
	}
	return n
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// hexDigits is how many hexadecimal digits a text begins with, as perf prints them.
func hexDigits(text []byte) int {
	n := 0
	for n < len(text) && (isDigit(text[n]) || text[n] >= 'a' && text[n] <= 'f') {
		n++
	}
	return n
}

// spaces is how many spaces a text begins with.
func spaces(text []byte) int {
	n := 0
	for n < len(text) && text[n] == ' ' {
		n++
	}
	return n
}

// endsAt reports whether a word ends at an offset of a text.
func endsAt(text []byte, at int) bool { return at == len(text) || text[at] == ' ' }

// decimal is the number that digits tell; that of too many is meaningless.
func decimal(text []byte) (n uint64) {
	for _, c := range text {
		n = 10*n + uint64(c-'0')
	}
	return n
}
