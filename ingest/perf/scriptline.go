package perf

import (
	"bytes"
	"math"
)

// sampleLine is what perf script prints of a sample before its frames.
type sampleLine struct {
	comm     string
	pid, tid int32 // none if missing
	timed    bool
	time     uint64
	period   int64 // none if missing
	event    string
	frame    []byte // the sample's place if it is in the line; valid until the next read
}

const (
	none = -1
	// noEvent is the event of samples that don't tell it.
	noEvent = "untold event"
)

// parse parses the first line of a sample:
//
//	comm pid/tid [cpu] misc date time: period event: details
//
// perf script -F may leave out each of these except the time, see parseUntimed. Names contain
// spaces, so the line is parsed from the time in both directions. It returns false if the line
// begins no sample.
func (p *sampleLine) parse(line []byte) bool {
	start, end := findTime(line)
	if end == 0 || !p.parseEvent(line[end:]) {
		return false
	}
	p.timed, p.time = true, readTime(line[start:end-1])
	p.parseOwner(line[:start])
	return true
}

// findTime finds the first word that is a time with its colon; end is 0 if there is none.
func findTime(line []byte) (start, end int) {
	for at := 0; ; at++ {
		i := bytes.IndexByte(line[at:], ':')
		if i < 0 {
			return 0, 0
		}
		at += i
		if !endsAt(line, at+1) {
			continue
		}
		dot := at - digitsBefore(line[:at]) - 1
		if n := at - dot - 1; dot < 1 || line[dot] != '.' || n != 6 && n != 9 {
			continue
		}
		start = dot - digitsBefore(line[:dot])
		if start < dot && (start == 0 || line[start-1] == ' ') {
			return start, at + 1
		}
	}
}

// digitsBefore counts the digits at the end.
func digitsBefore(text []byte) int {
	n := 0
	for n < len(text) && isDigit(text[len(text)-1-n]) {
		n++
	}
	return n
}

// readTime parses seconds, a dot, and 6 or 9 digits.
func readTime(text []byte) uint64 {
	n := digits(text)
	fraction := decimal(text[n+1:])
	if len(text)-n-1 == 6 {
		fraction *= 1000
	}
	return min(decimal(text[:min(n, 10)]), 1<<33-1)*1e9 + fraction
}

// maxBehindIDs bounds the words between ids and time: CPU, mode, date and time of day.
const maxBehindIDs = 4

// parseOwner parses what precedes the time.
func (p *sampleLine) parseOwner(text []byte) {
	rest := bytes.TrimRight(text, " ")
	for range maxBehindIDs + 1 {
		i := bytes.LastIndexByte(rest, ' ')
		if p.parseIDs(rest[i+1:]) {
			p.setComm(rest[:max(i, 0)])
			return
		}
		if i < 0 {
			break
		}
		rest = bytes.TrimRight(rest[:i], " ")
	}
	p.pid, p.tid = none, none
	p.setComm(withoutCPU(text))
}

func (p *sampleLine) setComm(name []byte) {
	if name = bytes.TrimSpace(name); string(name) != p.comm {
		p.comm = string(name)
	}
}

// withoutCPU cuts off a CPU at the end.
func withoutCPU(text []byte) []byte {
	text = bytes.TrimRight(text, " ")
	if i := bytes.LastIndexByte(text, ' '); isCPU(text[i+1:]) {
		return text[:max(i, 0)]
	}
	return text
}

func isCPU(word []byte) bool {
	n := len(word)
	return n > 2 && word[0] == '[' && word[n-1] == ']' && digits(word[1:]) == n-2
}

// parseIDs parses the word pid/tid, or tid.
func (p *sampleLine) parseIDs(word []byte) bool {
	first, n, ok := readID(word)
	if !ok {
		return false
	}
	if n == len(word) {
		p.pid, p.tid = none, first
		return true
	}
	if word[n] != '/' {
		return false
	}
	second, m, ok := readID(word[n+1:])
	if !ok || n+1+m != len(word) {
		return false
	}
	p.pid, p.tid = first, second
	return true
}

// readID parses an id at the front; n is its length. perf prints -1 for unknown.
func readID(text []byte) (id int32, n int, ok bool) {
	if bytes.HasPrefix(text, []byte("-1")) {
		return none, 2, true
	}
	n = digits(text)
	if n == 0 || n > 10 {
		return 0, 0, false
	}
	number := decimal(text[:n])
	return int32(min(number, math.MaxInt32)), n, number <= math.MaxInt32
}

// parseUntimed parses a line without a time. Other lines look like it: only one that has an id, and
// an event or a place, is surely a sample's. For others the next line decides.
func (p *sampleLine) parseUntimed(line []byte) (sure bool) {
	p.timed, p.time = false, 0
	at, end := p.findIDs(line)
	if end == 0 {
		p.parseNameOnly(line)
		return false
	}
	p.setComm(line[:at])
	rest := line[end:]
	if n := spaces(rest); n < len(rest) && rest[n] == '[' {
		if word, _, _ := bytes.Cut(rest[n:], []byte{' '}); isCPU(word) {
			rest = rest[n+len(word):]
		}
	}
	return p.parseEvent(rest) && (p.event != noEvent || p.frame != nil)
}

// findIDs finds the first word of two ids, or else the first id; end is 0 if there is none.
func (p *sampleLine) findIDs(line []byte) (at, end int) {
	for i := spaces(line); i < len(line); i += spaces(line[i:]) {
		word, _, _ := bytes.Cut(line[i:], []byte{' '})
		if word[len(word)-1] == ':' {
			break // the event
		}
		both := bytes.IndexByte(word, '/') > 0
		if (both || end == 0) && p.parseIDs(word) {
			if at, end = i, i+len(word); both {
				break
			}
		}
		i += len(word)
	}
	return at, end
}

// parseNameOnly parses a line without ids.
func (p *sampleLine) parseNameOnly(line []byte) {
	p.pid, p.tid, p.period, p.event, p.frame = none, none, none, noEvent, nil
	line = bytes.TrimRight(line, " ")
	if i := bytes.LastIndexByte(line, ' '); i > 0 && line[len(line)-1] == ':' {
		p.event = string(line[i+1 : len(line)-1])
		line = line[:i]
	}
	p.setComm(withoutCPU(line))
}

// ipWidth is the width of an address with the space before it.
const ipWidth = 17

// parseEvent parses what follows the time. It returns false if that is of no sample.
func (p *sampleLine) parseEvent(rest []byte) bool {
	p.period, p.frame = none, nil
	at := spaces(rest)
	if n := digits(rest[at:]); n > 0 && at+n < ipWidth && endsAt(rest, at+n) {
		p.period = int64(min(decimal(rest[at:at+n]), math.MaxInt64>>1))
		rest = rest[at+n:]
		at = spaces(rest)
	}
	if at == len(rest) {
		p.event = noEvent
		return true
	}
	if n := hexDigits(rest[at:]); at+n >= ipWidth && endsAt(rest, at+n) {
		p.event, p.frame = noEvent, rest[at:]
		return true
	}
	for end := at; end < len(rest); end++ {
		i := bytes.IndexByte(rest[end:], ':')
		if i < 0 {
			return false
		}
		if end += i; end > at && endsAt(rest, end+1) {
			if name := rest[at:end]; string(name) != p.event {
				p.event = string(name)
			}
			p.frame = findFrame(rest[end+1:])
			return true
		}
	}
	return false
}

// findFrame finds the sample's place in what follows the event, nil if there is none. Other fields
// may come before it, such as a data address (-F addr), one column further left.
func findFrame(rest []byte) (frame []byte) {
	first := true
	for at := 0; at < len(rest); first = false {
		wide := spaces(rest[at:])
		word := rest[at+wide:]
		n := hexDigits(word)
		if wide > 0 && wide+n >= ipWidth && endsAt(word, n) && (!first || wide+n > ipWidth) {
			frame = word
		} else if first && n > 0 {
			if f, ok := parseFrame(word); ok && f.isFull() {
				frame = word
			}
		}
		next := bytes.IndexByte(word, ' ')
		if next < 0 {
			break
		}
		at += wide + next
	}
	return frame
}

// frameLine is the parsed line of a frame. Its texts are parts of the line.
type frameLine struct {
	address      uint64
	symbol, file []byte // empty: unknown
	known        bool   // there is an address
	offset       bool   // there is an offset in the function
	inlined      bool
}

var (
	inlinedMark = []byte(" (inlined)")
	unknownName = []byte("[unknown]")
	offsetMark  = []byte("+0x")
)

// isFull reports whether a frame has its file and position, or says that they are unknown.
func (f *frameLine) isFull() bool {
	return (f.offset || len(f.symbol) == 0) && (len(f.file) > 0 || f.inlined)
}

// parseFrame parses the line of a frame:
//
//	address symbol+offset (file)
//	address symbol+offset (inlined)
//
// perf script -F may leave out what follows the address. Symbols and files contain spaces and
// parentheses, so the line is parsed from its end.
func parseFrame(line []byte) (f frameLine, ok bool) {
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

// offsetSuffix is the length of the offset at the end of a text.
func offsetSuffix(text []byte) int {
	i := lastOffset(text)
	if i < 0 || i+3 == len(text) || hexDigits(text[i+3:]) != len(text)-i-3 {
		return 0
	}
	return len(text) - i
}

// lastOffset is the position of the last offset, -1 for none.
func lastOffset(text []byte) int {
	for at := len(text); ; {
		at = bytes.LastIndexByte(text[:at], '+')
		if at < 0 || bytes.HasPrefix(text[at:], offsetMark) {
			return at
		}
	}
}

// cutFile cuts off the file in parentheses at the end.
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

// fileStart is the position of the file's parenthesis, -1 if there is no file.
//
//  1. It follows the offset, if there is one.
//  2. Else it is the one that the last parenthesis closes, unless that is part of the symbol: of
//     its arguments, or of what compilers add, such as (.cold).
//  3. File names may have unbalanced parentheses; but they are absolute, or in brackets.
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

// partner is the position of the parenthesis that the last one closes, -1 for none.
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

// isKernel reports whether a frame is kernel code.
func (f *frameLine) isKernel() bool {
	if f.address >= 1<<63 {
		return true
	}
	if bytes.HasPrefix(f.file, []byte("[kernel")) || bytes.HasPrefix(f.file, []byte("[guest.kernel")) {
		return true
	}
	name := f.file[1+bytes.LastIndexByte(f.file, '/'):]
	return bytes.HasPrefix(name, []byte("vmlinux")) || bytes.HasSuffix(name, []byte(".ko")) || bytes.Contains(name, []byte(".ko."))
}
