package perf

import (
	"bufio"
	"bytes"
	"io"
	"regexp"
	"strconv"
	"sync"
)

// script reads the output of perf script sample by sample: a line with thread and event, a line for
// each frame, and an empty one.
type script struct {
	lines
	strange int64
	missing scriptLosses
	begun   bool                        // a sample line was seen
	own     []byte                      // the frame in the sample line
	frame   func(line []byte) bool      // called for each frame's line, innermost first; false: it is none
	place   func(file []byte, line int) // called with the source line of the last frame; may be nil
	header  func(key, value string)     // called for comments; may be nil
	forked  func(pid, tid int32)        // called for threads; may be nil
}

// scriptLosses counts lines that have no place here.
type scriptLosses struct {
	switches int64
	lost     int64 // records
}

var (
	comment  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^#\s*([a-z][a-z ]*?)\s*:\s*(.*?)\s*$`) })
	lostLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`PERF_RECORD_LOST\S*\s+lost (\d+)`) })
	forkLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`PERF_RECORD_FORK\((-?\d+):(-?\d+)\)`) })
	commLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`PERF_RECORD_COMM.*:(-?\d+)/(-?\d+)\s*$`) })
	recordOf = []byte(" PERF_RECORD_")
)

// SniffScript reports whether a file begins as the output of perf script.
func SniffScript(text []byte) bool {
	var p sampleLine
	odd := 0
	for line := range bytes.Lines(text) {
		if !bytes.HasSuffix(line, []byte{'\n'}) && len(line) < len(text) && !isColumn(line) {
			return false // cut off, and nothing before it told
		}
		line = trimEnd(line)
		switch {
		case len(line) == 0 || bytes.HasPrefix(line, []byte("# ====")):
		case bytes.HasPrefix(line, []byte("# captured on")), isColumn(line):
			return true
		case line[0] == '#':
		case p.parse(line) || isRecord(line) || p.parseUntimed(line) && p.frame != nil:
			return true
		default:
			if odd++; odd > 1 { // one may begin a sample without a time
				return false
			}
		}
	}
	return false
}

// SniffReport reports whether a file begins as the output of perf report.
func SniffReport(text []byte) bool {
	return bytes.HasPrefix(text, []byte("# To display the perf.data header info"))
}

// isRecord reports whether a line is another record than a sample.
func isRecord(line []byte) bool {
	_, end := findTime(line)
	return end > 0 && bytes.HasPrefix(bytes.TrimLeft(line[end:], " "), recordOf[1:])
}

// isFrame reports whether a line is a frame's, which perf indents by a tab.
func isFrame(line []byte) bool {
	if len(line) == 0 || line[0] != '\t' {
		return false
	}
	at := 1 + spaces(line[1:])
	n := hexDigits(line[at:])
	return n > 0 && endsAt(line, at+n) || bytes.HasSuffix(line, inlinedMark)
}

// isColumn reports whether a line is a frame's with the address in perf's column. In a text without
// times and ids that is how samples are recognized.
func isColumn(line []byte) bool {
	return isFrame(line) && len(line) >= ipWidth && endsAt(line, ipWidth) && line[ipWidth-1] != ' '
}

// next reads the next sample. The error is io.EOF, or that of reading.
func (s *script) next(p *sampleLine) error {
	for {
		if err := s.read(); err != nil {
			return err
		}
		switch {
		case isBlank(s.line) || s.line[0] == '|': // of -F srccode
		case s.line[0] == '#':
			if m := comment().FindSubmatch(s.line); m != nil && s.header != nil {
				s.header(string(m[1]), string(m[2]))
			}
		case bytes.Contains(s.line, recordOf):
			s.task()
		case !s.begun && isColumn(s.line): // perf script -F ip tells nothing else
			p.parseNameOnly(nil)
			s.again = true
			return s.readFrames(p)
		case p.parse(s.line):
			s.begun = true
			return s.readFrames(p)
		default:
			if ok, err := s.beginUntimed(p); err != nil {
				return err
			} else if ok {
				s.begun = true
				return s.readFrames(p)
			}
			s.strange++
		}
	}
}

// beginUntimed parses a line that may begin a sample without a time; if that is unsure, the next
// line decides.
func (s *script) beginUntimed(p *sampleLine) (bool, error) {
	sure := p.parseUntimed(s.line)
	if sure || s.line[0] == '\t' {
		return sure, nil
	}
	switch err := s.read(); err {
	case nil:
		s.again = true
		return isColumn(s.line), nil
	case io.EOF:
		return false, nil
	default:
		return false, err
	}
}

// task parses a line about a thread or a loss.
func (s *script) task() {
	if bytes.Contains(s.line, []byte(" PERF_RECORD_SWITCH")) {
		s.missing.switches++
		return
	}
	if m := lostLine().FindSubmatch(s.line); m != nil {
		n, _ := strconv.ParseInt(string(m[1]), 10, 40)
		s.missing.lost += n
		return
	}
	m := forkLine().FindSubmatch(s.line)
	if m == nil {
		m = commLine().FindSubmatch(s.line)
	}
	if m != nil && s.forked != nil {
		s.forked(number32(m[1]), number32(m[2]))
	}
}

// readFrames reads the lines after a sample's first, up to an empty one or another sample. A frame
// in the first line is the only one; if others follow, it was a data address.
func (s *script) readFrames(p *sampleLine) error {
	s.own = append(s.own[:0], p.frame...)
	for {
		err := s.read()
		if err == nil && len(s.line) > 0 && s.line[0] == '\t' && s.frame(s.line) {
			s.own = s.own[:0]
			continue
		}
		if len(s.own) > 0 {
			s.frame(s.own)
			s.own = s.own[:0]
		}
		switch {
		case err == io.EOF || err == nil && isBlank(s.line):
			return nil
		case err != nil:
			return err
		case s.beginsNext(p.timed):
			s.again = true
			return nil
		}
		s.readDetails()
	}
}

// beginsNext reports whether the line begins another sample, or is another record.
func (s *script) beginsNext(timed bool) bool {
	if s.line[0] == '\t' || s.line[0] == '|' {
		return false
	}
	var p sampleLine
	if bytes.Contains(s.line, recordOf) || p.parse(s.line) {
		return true
	}
	return !timed && p.parseUntimed(s.line)
}

// readDetails parses a line that is not a frame as perf prints it: one with its tab replaced by
// spaces, or another field's.
func (s *script) readDetails() {
	if f, ok := parseFrame(s.line); ok && f.isFull() {
		s.frame(s.line)
	} else if s.place != nil {
		s.readPlace()
	}
}

// readPlace parses the source line that -F srcline prints after a frame.
func (s *script) readPlace() {
	text := bytes.TrimSuffix(bytes.TrimLeft(s.line, " "), inlinedMark)
	if len(s.line)-len(text) < 2 {
		return
	}
	if i := bytes.Index(text, []byte(" (discriminator ")); i > 0 {
		text = text[:i]
	}
	colon := bytes.LastIndexByte(text, ':')
	if colon <= 0 || len(text)-colon > 10 || digits(text[colon+1:]) != len(text)-colon-1 {
		return
	}
	if line := decimal(text[colon+1:]); line > 0 {
		s.place(text[:colon], int(line))
	}
}

func number32(text []byte) int32 {
	n, _ := strconv.ParseInt(string(text), 10, 32)
	return int32(n)
}

// maxLine bounds a line; C++ names are long.
const maxLine = 1 << 20

// lines reads a text line by line.
type lines struct {
	in    *bufio.Reader
	at    int64  // offset of the line
	end   int64  // offset of the next line
	line  []byte // without its end; valid until the next read
	long  []byte // the line if longer than in's buffer
	again bool   // read returns line once more
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

func trimEnd(line []byte) []byte {
	n := len(line)
	for n > 0 && (line[n-1] == '\n' || line[n-1] == '\r') {
		n--
	}
	return line[:n]
}

// readLong reads the rest of a line. It cuts off all beyond maxLine.
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

func isBlank(line []byte) bool { return len(line) == 0 || len(bytes.TrimSpace(line)) == 0 }

// digits counts the decimal digits at the front.
func digits(text []byte) int {
	n := 0
	for n < len(text) && isDigit(text[n]) {
		n++
	}
	return n
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// hexDigits counts the lower-case hex digits at the front.
func hexDigits(text []byte) int {
	n := 0
	for n < len(text) && (isDigit(text[n]) || text[n] >= 'a' && text[n] <= 'f') {
		n++
	}
	return n
}

// spaces counts the spaces at the front.
func spaces(text []byte) int {
	n := 0
	for n < len(text) && text[n] == ' ' {
		n++
	}
	return n
}

// endsAt reports whether a word ends at an offset.
func endsAt(text []byte, at int) bool { return at == len(text) || text[at] == ' ' }

// decimal is the number of some digits; it may overflow.
func decimal(text []byte) (n uint64) {
	for _, c := range text {
		n = 10*n + uint64(c-'0')
	}
	return n
}
