package perf

import (
	"bytes"
	"math"
)

// printed is what perf script prints of a sample before its frames.
type printed struct {
	comm     string
	pid, tid int32 // untold: it is not told
	timed    bool
	time     uint64
	period   int64 // untold: it is not told
	event    string
	frame    []byte // where the sample is, if that stands in the line; until the next one is read
}

const (
	untold = -1
	// untoldEvent is the event of samples where perf script was told to leave it out.
	untoldEvent = "untold event"
)

// parse reads the line that begins a sample, as perf script prints it:
//
//	comm pid/tid [cpu] misc date time: period event: details
//
// perf script -F may leave out each of these but the time: see parseUntimed. Names hold
// spaces, so the line is read from the time on, in both directions. It is false if the
// line begins no sample.
func (p *printed) parse(line []byte) bool {
	start, end := findTime(line)
	if end == 0 || !p.parseEvent(line[end:]) {
		return false
	}
	p.timed, p.time = true, readTime(line[start:end-1])
	p.parseOwner(line[:start])
	return true
}

// findTime finds the first word that is a time and a colon, which is in it; end is 0 if
// there is none.
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

// digitsBefore is how many digits a text ends with.
func digitsBefore(text []byte) int {
	n := 0
	for n < len(text) && isDigit(text[len(text)-1-n]) {
		n++
	}
	return n
}

// readTime reads seconds, a dot, and 6 or 9 digits.
func readTime(text []byte) uint64 {
	n := digits(text)
	fraction := decimal(text[n+1:])
	if len(text)-n-1 == 6 {
		fraction *= 1000
	}
	return min(decimal(text[:min(n, 10)]), 1<<33-1)*1e9 + fraction
}

// maxBehindIDs is how many words may stand between the ids and the time: the processor,
// the mode, a date and a time of day.
const maxBehindIDs = 4

// parseOwner reads what stands before the time.
func (p *printed) parseOwner(text []byte) {
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
	p.pid, p.tid = untold, untold
	p.setComm(withoutCPU(text))
}

// setComm sets the name of the thread.
func (p *printed) setComm(name []byte) {
	if name = bytes.TrimSpace(name); string(name) != p.comm {
		p.comm = string(name)
	}
}

// withoutCPU is a text without the processor that it ends with.
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

// parseIDs reads the word pid/tid, or tid.
func (p *printed) parseIDs(word []byte) bool {
	first, n, ok := readID(word)
	if !ok {
		return false
	}
	if n == len(word) {
		p.pid, p.tid = untold, first
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

// readID reads an id at the front of a text, and how long it is. perf prints -1 for what
// it does not know.
func readID(text []byte) (id int32, n int, ok bool) {
	if bytes.HasPrefix(text, []byte("-1")) {
		return untold, 2, true
	}
	n = digits(text)
	if n == 0 || n > 10 {
		return 0, 0, false
	}
	number := decimal(text[:n])
	return int32(min(number, math.MaxInt32)), n, number <= math.MaxInt32
}

// parseUntimed reads a line that tells no time. Other lines look like it, so it is sure
// of one only that tells an id as well as the event or where the sample is; of the
// others, the caller decides by what follows.
func (p *printed) parseUntimed(line []byte) (sure bool) {
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
	return p.parseEvent(rest) && (p.event != untoldEvent || p.frame != nil)
}

// findIDs finds the first word that is of two ids, or else the first that is one; end is
// 0 if there is none.
func (p *printed) findIDs(line []byte) (at, end int) {
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

// parseNameOnly reads a line that tells no ids.
func (p *printed) parseNameOnly(line []byte) {
	p.pid, p.tid, p.period, p.event, p.frame = untold, untold, untold, untoldEvent, nil
	line = bytes.TrimRight(line, " ")
	if i := bytes.LastIndexByte(line, ' '); i > 0 && line[len(line)-1] == ':' {
		p.event = string(line[i+1 : len(line)-1])
		line = line[:i]
	}
	p.setComm(withoutCPU(line))
}

// ipWidth is how wide perf prints an address, with the space before it.
const ipWidth = 17

// parseEvent reads what stands behind the time. It is false if that is of no sample.
func (p *printed) parseEvent(rest []byte) bool {
	p.period, p.frame = untold, nil
	at := spaces(rest)
	if n := digits(rest[at:]); n > 0 && at+n < ipWidth && endsAt(rest, at+n) {
		p.period = int64(min(decimal(rest[at:at+n]), math.MaxInt64>>1))
		rest = rest[at+n:]
		at = spaces(rest)
	}
	if at == len(rest) {
		p.event = untoldEvent
		return true
	}
	if n := hexDigits(rest[at:]); at+n >= ipWidth && endsAt(rest, at+n) {
		p.event, p.frame = untoldEvent, rest[at:]
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

// findFrame finds where a sample is in what stands behind its event; nil if that is not
// told. Other fields may stand before it, an address of data (-F addr) among them. That
// one stands a column further to the left than the sample's.
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
