package recorder

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"

	"gprof/rawformat"
	"gprof/recorder/internal/dict"
)

// cpuProfile is what a profile of runtime/pprof says: the part that the
// recorder needs.
type cpuProfile struct {
	samples []cpuSample
}

// cpuSample is one row: count samples with the same stack and labels.
type cpuSample struct {
	count, cpu int64        // cpu in ns
	stack      []dict.Frame // leaf first
	track      string       // value of the label trackLabel
	labels     []dict.Label // those of the program
}

// Limits of a profile. It comes from our own runtime, but what can't be
// allocated by mistake can't hurt the host.
const (
	maxProfile      = 64 << 20 // bytes, inflated; a window has some kilobytes
	maxProfileDepth = 512      // pcs of a stack; the runtime stops at 128
)

var errProfile = errors.New("malformed profile")

// readProfile reads a profile in the format of github.com/google/pprof's
// profile.proto, gzipped. The error is of class errProfile or the gzip
// reader's.
func readProfile(gzipped []byte) (*cpuProfile, error) {
	z, err := gzip.NewReader(bytes.NewReader(gzipped))
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(z, maxProfile+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxProfile {
		return nil, fmt.Errorf("%w: more than %d bytes", errProfile, maxProfile)
	}
	return parseProfile(b)
}

// parseProfile works in two steps, because tables may follow the rows that
// refer to them:
//
//  1. Note where samples, locations and functions lie; collect the strings.
//  2. Resolve functions, then locations, then samples.
func parseProfile(b []byte) (*cpuProfile, error) {
	var p profileTables
	m := message{b: b}
	for m.next() {
		switch m.field {
		case 2:
			p.samples = append(p.samples, m.bytes)
		case 4:
			p.locations = append(p.locations, m.bytes)
		case 5:
			p.functions = append(p.functions, m.bytes)
		case 6:
			p.strings = append(p.strings, string(m.bytes))
		}
	}
	if m.err != nil {
		return nil, m.err
	}
	return p.resolve()
}

type profileTables struct {
	samples, locations, functions [][]byte
	strings                       []string
	function                      map[uint64]dict.Function
	location                      map[uint64]dict.Frame
}

func (p *profileTables) resolve() (*cpuProfile, error) {
	p.function, p.location = map[uint64]dict.Function{}, map[uint64]dict.Frame{}
	for _, b := range p.functions {
		if err := p.addFunction(b); err != nil {
			return nil, err
		}
	}
	for _, b := range p.locations {
		if err := p.addLocation(b); err != nil {
			return nil, err
		}
	}
	out := &cpuProfile{}
	for _, b := range p.samples {
		s, err := p.sample(b)
		if err != nil {
			return nil, err
		}
		out.samples = append(out.samples, s)
	}
	return out, nil
}

// text is string i, "" if there is none.
func (p *profileTables) text(i uint64) string {
	if i >= uint64(len(p.strings)) {
		return ""
	}
	return p.strings[i]
}

func (p *profileTables) addFunction(b []byte) error {
	var id uint64
	var s dict.Function
	m := message{b: b}
	for m.next() {
		switch m.field {
		case 1:
			id = m.number
		case 2:
			s.Name = p.text(m.number)
		case 4:
			s.File = p.text(m.number)
		case 5:
			s.Start = int64(m.number)
		}
	}
	p.function[id] = s
	return m.err
}

// addLocation reads a pc and its lines, of which the innermost comes first.
func (p *profileTables) addLocation(b []byte) error {
	var id uint64
	var l dict.Frame
	m := message{b: b}
	for m.next() {
		switch m.field {
		case 1:
			id = m.number
		case 3:
			l.PC = m.number
		case 4:
			s, err := p.line(m.bytes)
			if err != nil {
				return err
			}
			l.Functions = append(l.Functions, s)
		}
	}
	slices.Reverse(l.Functions)
	p.location[id] = l
	return m.err
}

func (p *profileTables) line(b []byte) (s dict.Function, err error) {
	line := int64(0)
	m := message{b: b}
	for m.next() {
		switch m.field {
		case 1:
			s = p.function[m.number]
		case 2:
			line = int64(m.number)
		}
	}
	s.Line = line
	return s, m.err
}

// sample reads a row: its first value is the number of samples, the second the
// CPU time.
func (p *profileTables) sample(b []byte) (s cpuSample, err error) {
	var values []uint64
	m := message{b: b}
	for m.next() {
		switch m.field {
		case 1:
			for _, id := range m.numbers(nil) {
				s.stack = append(s.stack, p.location[id])
			}
		case 2:
			values = m.numbers(values)
		case 3:
			if l := p.label(m.bytes); l.Key == trackLabel {
				s.track = l.Value
			} else if l.Key != "" && len(s.labels) < rawformat.MaxLabels {
				s.labels = append(s.labels, l)
			}
		}
	}
	switch {
	case m.err != nil:
		return s, m.err
	case len(values) != 2:
		return s, fmt.Errorf("%w: sample of %d values, want 2", errProfile, len(values))
	case len(s.stack) > maxProfileDepth:
		return s, fmt.Errorf("%w: stack of %d pcs, want at most %d", errProfile, len(s.stack), maxProfileDepth)
	}
	s.count, s.cpu = int64(values[0]), int64(values[1])
	return s, nil
}

func (p *profileTables) label(b []byte) (l dict.Label) {
	m := message{b: b}
	for m.next() {
		switch m.field {
		case 1:
			l.Key = p.text(m.number)
		case 2:
			l.Value = p.text(m.number)
		}
	}
	return l
}
