package perf

import (
	"bytes"
	"io"
	"regexp"
	"strconv"
)

// script reads the text of perf script, sample by sample: a line that says whose it
// is and of which event, then one for each frame, then an empty one.
type script struct {
	lines
	strange int64
	missing missing
	begun   bool                        // there was a line that begins a sample
	own     []byte                      // the frame that stood in it
	frame   func(line []byte) bool      // is told of the line of each frame, innermost first; false: it is none
	place   func(file []byte, line int) // is told where the code of the last one is; may be nil
	header  func(key, value string)     // is told what comments say; may be nil
	forked  func(pid, tid int32)        // is told of threads; may be nil
}

// missing is what lines tell that is no sample and has no place here.
type missing struct {
	switches int64 // of threads
	lost     int64 // records
}

var (
	comment  = regexp.MustCompile(`^#\s*([a-z][a-z ]*?)\s*:\s*(.*?)\s*$`)
	lostLine = regexp.MustCompile(`PERF_RECORD_LOST\S*\s+lost (\d+)`)
	forkLine = regexp.MustCompile(`PERF_RECORD_FORK\((-?\d+):(-?\d+)\)`)
	commLine = regexp.MustCompile(`PERF_RECORD_COMM.*:(-?\d+)/(-?\d+)\s*$`)
	recordOf = []byte(" PERF_RECORD_")
)

// SniffScript reports whether a file that begins so is what perf script prints.
func SniffScript(text []byte) bool {
	var p printed
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

// SniffReport reports whether a file that begins so is what perf report prints.
func SniffReport(text []byte) bool {
	return bytes.HasPrefix(text, []byte("# To display the perf.data header info"))
}

// isRecord reports whether a line tells of what is no sample.
func isRecord(line []byte) bool {
	_, end := findTime(line)
	return end > 0 && bytes.HasPrefix(bytes.TrimLeft(line[end:], " "), recordOf[1:])
}

// isFrame reports whether a line is one of a frame below a sample, which perf indents by a
// tab.
func isFrame(line []byte) bool {
	if len(line) == 0 || line[0] != '\t' {
		return false
	}
	at := 1 + spaces(line[1:])
	n := hexDigits(line[at:])
	return n > 0 && endsAt(line, at+n) || bytes.HasSuffix(line, inlinedMark)
}

// isColumn reports whether a line is that of a frame just as perf prints it: the address
// ends a column. Of a text that tells neither time nor ids that is what samples are known
// by.
func isColumn(line []byte) bool {
	return isFrame(line) && len(line) >= ipWidth && endsAt(line, ipWidth) && line[ipWidth-1] != ' '
}

// next reads the next sample. The error is io.EOF, or that of reading.
func (s *script) next(p *printed) error {
	for {
		if err := s.read(); err != nil {
			return err
		}
		switch {
		case isBlank(s.line) || s.line[0] == '|': // of -F srccode
		case s.line[0] == '#':
			if m := comment.FindSubmatch(s.line); m != nil && s.header != nil {
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

// beginUntimed reads a line that may begin a sample and tells no time. Of some the line
// that follows says whether they do.
func (s *script) beginUntimed(p *printed) (bool, error) {
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

// task takes a line that tells of a thread, or of what is missing.
func (s *script) task() {
	if bytes.Contains(s.line, []byte(" PERF_RECORD_SWITCH")) {
		s.missing.switches++
		return
	}
	if m := lostLine.FindSubmatch(s.line); m != nil {
		n, _ := strconv.ParseInt(string(m[1]), 10, 40)
		s.missing.lost += n
		return
	}
	m := forkLine.FindSubmatch(s.line)
	if m == nil {
		m = commLine.FindSubmatch(s.line)
	}
	if m != nil && s.forked != nil {
		s.forked(number32(m[1]), number32(m[2]))
	}
}

// readFrames reads the lines below that which begins a sample, up to an empty one or
// another sample. A frame that stands in the line is the only one; if others follow, it
// was the address of data.
func (s *script) readFrames(p *printed) error {
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

// beginsNext reports whether the line begins another sample, or is of none, where those
// tell times.
func (s *script) beginsNext(timed bool) bool {
	if s.line[0] == '\t' || s.line[0] == '|' {
		return false
	}
	var p printed
	if bytes.Contains(s.line, recordOf) || p.parse(s.line) {
		return true
	}
	return !timed && p.parseUntimed(s.line)
}

// readDetails reads a line below a sample that is not as perf prints those of frames: of a
// text whose tabs were replaced by spaces, or what other fields tell.
func (s *script) readDetails() {
	if f, ok := parseFrame(s.line); ok && f.isFull() {
		s.frame(s.line)
	} else if s.place != nil {
		s.readPlace()
	}
}

// readPlace reads a line that -F srcline prints below a frame.
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
