package perf

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// script reads the text of perf script, sample by sample: a line that says whose it
// is and of which event, then one for each frame, then an empty one.
type script struct {
	in      *bufio.Reader
	at      int64 // offset of the line
	end     int64 // and of what follows
	line    []byte
	again   bool // line is to be read again
	strange int64
	missing missing
	header  func(key, value string) // is told what comments say; may be nil
	forked  func(pid, tid int32)    // is told of threads; may be nil
}

// missing is what lines tell that is no sample and has no place here.
type missing struct {
	switches int64 // of threads
	lost     int64 // records
}

// printed is a sample as it is printed.
type printed struct {
	comm     string
	pid, tid int32 // pid -1: not told
	time     uint64
	period   int64 // -1: not told
	event    string
	frames   []printedFrame // innermost first; used again
}

type printedFrame struct {
	address       uint64
	symbol, file  string // "" unknown
	kernel, known bool   // known: the address is
}

// head is the line that begins a sample. Names may hold spaces; the event may not be told.
var head = regexp.MustCompile(`^\s*(\S.*?)\s+(?:(-?\d+)/)?(-?\d+)\s+(?:\[(\d+)\]\s+)?(?:\S{4,8}\s+)?(\d+)\.(\d{6}|\d{9}):(?:\s+(?:(\d+)\s+)?(\S+):(?:\s+(.*))?|\s*)$`)

// frameLine is that of a frame; of one that was inlined the file is "inlined".
var frameLine = regexp.MustCompile(`^\s*([0-9a-f]+)\s+(\S.*?)(?:\s+\((.*)\))?\s*$`)

// inlinedLine is a frame without an address.
var inlinedLine = regexp.MustCompile(`^\s+(\S.*?)\s+\(inlined\)\s*$`)

var (
	comment   = regexp.MustCompile(`^#\s*([a-z][a-z ]*?)\s*:\s*(.*?)\s*$`)
	otherLine = regexp.MustCompile(`^\s*\S.*\s\d+\.\d{6,9}:\s+PERF_RECORD_[A-Z]`)
	lostLine  = regexp.MustCompile(`PERF_RECORD_LOST\S*\s+lost (\d+)`)
	forkLine  = regexp.MustCompile(`PERF_RECORD_FORK\((-?\d+):(-?\d+)\)`)
	commLine  = regexp.MustCompile(`PERF_RECORD_COMM.*:(-?\d+)/(-?\d+)\s*$`)
	offset    = regexp.MustCompile(`\+0x[0-9a-f]+$`)
)

// SniffScript reports whether a file that begins so is what perf script prints.
func SniffScript(text []byte) bool {
	for line := range bytes.Lines(text) {
		if !bytes.HasSuffix(line, []byte{'\n'}) && len(line) < len(text) {
			return false // cut off, and nothing before it told
		}
		line = bytes.TrimRight(line, "\r\n")
		switch {
		case len(line) == 0 || bytes.HasPrefix(line, []byte("# ====")):
		case bytes.HasPrefix(line, []byte("# captured on")):
			return true
		case line[0] == '#':
		default:
			return head.Match(line) || otherLine.Match(line)
		}
	}
	return false
}

// SniffReport reports whether a file that begins so is what perf report prints.
func SniffReport(text []byte) bool {
	return bytes.HasPrefix(text, []byte("# To display the perf.data header info"))
}

// maxLine bounds a line: names of C++ may be long.
const maxLine = 1 << 20

// read reads a line without its end. The error is io.EOF, or that of reading.
func (s *script) read() error {
	if s.again {
		s.again = false
		return nil
	}
	s.at = s.end
	s.line = s.line[:0]
	for {
		part, err := s.in.ReadSlice('\n')
		s.end += int64(len(part))
		if len(s.line) < maxLine {
			s.line = append(s.line, part...)
		}
		if err == nil || err == io.EOF && len(s.line) > 0 {
			break
		} else if err != bufio.ErrBufferFull {
			return err
		}
	}
	s.line = bytes.TrimRight(s.line, "\r\n")
	return nil
}

// next reads the next sample. The error is io.EOF, or that of reading.
func (s *script) next(p *printed) error {
	for {
		if err := s.read(); err != nil {
			return err
		}
		switch {
		case len(bytes.TrimSpace(s.line)) == 0:
		case s.line[0] == '#':
			if m := comment.FindSubmatch(s.line); m != nil && s.header != nil {
				s.header(string(m[1]), string(m[2]))
			}
		case bytes.Contains(s.line, []byte(" PERF_RECORD_")):
			s.task()
		case s.begin(p):
			return s.readFrames(p)
		default:
			s.strange++
		}
	}
}

// untoldEvent is the event of samples where perf script was told to leave it out.
const untoldEvent = "untold event"

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

// begin reads the line that begins a sample.
func (s *script) begin(p *printed) bool {
	m := head.FindSubmatch(s.line)
	if m == nil {
		return false
	}
	*p = printed{comm: string(m[1]), pid: -1, tid: number32(m[3]), event: string(m[8]), period: -1, frames: p.frames[:0]}
	if len(m[2]) > 0 {
		p.pid = number32(m[2])
	}
	if p.event == "" {
		p.event = untoldEvent
	}
	seconds, _ := strconv.ParseUint(string(m[5]), 10, 33)
	fraction, _ := strconv.ParseUint((string(m[6]) + "000")[:9], 10, 32)
	p.time = seconds*1e9 + fraction
	if n, err := strconv.ParseInt(string(m[7]), 10, 62); err == nil {
		p.period = n
	}
	if f, ok := parseFrame(m[9]); ok { // without call chains, it stands there
		p.frames = append(p.frames, f)
	}
	return true
}

// readFrames reads the lines of frames, up to an empty one or another sample.
func (s *script) readFrames(p *printed) error {
	for {
		err := s.read()
		if err == io.EOF || err == nil && len(bytes.TrimSpace(s.line)) == 0 {
			return nil
		} else if err != nil {
			return err
		}
		f, ok := parseFrame(s.line)
		switch {
		case ok:
			p.frames = append(p.frames, f)
		case inlinedLine.Match(s.line):
			p.frames = append(p.frames, printedFrame{symbol: string(inlinedLine.FindSubmatch(s.line)[1])})
		case head.Match(s.line):
			s.again = true
			return nil
		}
		// Anything else is of a frame: its source, say, which other fields tell.
	}
}

// parseFrame reads a frame.
func parseFrame(line []byte) (f printedFrame, ok bool) {
	m := frameLine.FindSubmatch(line)
	if m == nil {
		return f, false
	}
	address, err := strconv.ParseUint(string(m[1]), 16, 64)
	if err != nil {
		return f, false
	}
	symbol, file := string(m[2]), string(m[3])
	if file == "" && !offset.MatchString(symbol) && symbol != "[unknown]" {
		return f, false // a source line, or what a tracepoint says
	}
	f = printedFrame{address: address, known: true, symbol: strings.TrimSuffix(symbol, offset.FindString(symbol)), file: file}
	f.kernel = strings.HasPrefix(file, "[kernel") || strings.HasPrefix(file, "[guest.kernel") || strings.HasSuffix(file, ".ko") || strings.HasSuffix(file, ".ko.xz") || address >= 1<<63
	if f.symbol == "[unknown]" {
		f.symbol = ""
	}
	if f.file == "[unknown]" || f.file == "inlined" {
		f.file = ""
	}
	return f, true
}

func number32(text []byte) int32 {
	n, _ := strconv.ParseInt(string(text), 10, 32)
	return int32(n)
}

// String names where a sample is, for tests.
func (p *printed) String() string {
	return fmt.Sprintf("%s %d/%d %d %s %d %v", p.comm, p.pid, p.tid, p.time, p.event, p.period, p.frames)
}
