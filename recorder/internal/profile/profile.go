// Package profile samples the CPU by profiles of runtime/pprof.
package profile

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"gprof/rawformat"
	"gprof/rawformat/profileproto"
	"gprof/rawformat/protobuf"
	"gprof/recorder/internal/dict"
)

// Sample is a row of a profile: Count samples with the same stack and labels.
type Sample struct {
	Count, CPU int64        // CPU in ns, of all of them
	Stack      []dict.Frame // leaf first
	Track      string       // value of the label that names the track
	Labels     []dict.Label // the other labels
}

// Limits of a profile. Profiles come from our own runtime; the limits ensure that not even a bug there can exhaust the host's
// memory.
const (
	maxBytes = 64 << 20 // bytes, inflated; a window has some kilobytes
	maxDepth = 512      // pcs of a stack; the runtime stops at 128
)

var (
	errProfile = errors.New("malformed profile")
	errCut     = fmt.Errorf("%w: a message is cut short", errProfile)
	errSample  = fmt.Errorf("%w: a sample is cut short, or has more than %d pcs or 2 values", errProfile, maxDepth)
)

// Read reads a profile in the format of github.com/google/pprof's profile.proto,
// gzipped. trackLabel is the key of the label that names a track.
func Read(gzipped []byte, trackLabel string) ([]Sample, error) {
	z, err := gzip.NewReader(bytes.NewReader(gzipped))
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(z, maxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxBytes {
		return nil, fmt.Errorf("%w: more than %d bytes", errProfile, maxBytes)
	}
	return parse(b, trackLabel)
}

// parse works in two steps, because tables may follow the rows that
// refer to them:
//
//  1. Note where samples, locations and functions lie; collect the strings.
//  2. Resolve functions, then locations, then samples.
func parse(b []byte, trackLabel string) ([]Sample, error) {
	p := tables{trackLabel: trackLabel}
	m := protobuf.Message{Rest: b}
	for v, ok := m.Read(); ok; v, ok = m.Read() {
		switch v.Number {
		case profileproto.ProfileSample:
			p.samples = append(p.samples, v.Bytes)
		case profileproto.ProfileLocation:
			p.locations = append(p.locations, v.Bytes)
		case profileproto.ProfileFunction:
			p.functions = append(p.functions, v.Bytes)
		case profileproto.ProfileString:
			p.strings = append(p.strings, string(v.Bytes))
		}
	}
	if err := intact(&m); err != nil {
		return nil, err
	}
	return p.resolve()
}

type tables struct {
	trackLabel                    string
	samples, locations, functions [][]byte
	strings                       []string
	function                      map[uint64]dict.Function
	location                      map[uint64]dict.Frame
}

func (p *tables) resolve() (all []Sample, err error) {
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
	for _, b := range p.samples {
		s, err := p.sample(b)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

func intact(m *protobuf.Message) error {
	if m.Bad {
		return errCut
	}
	return nil
}

// text is string i, "" if there is none.
func (p *tables) text(i uint64) string {
	if i >= uint64(len(p.strings)) {
		return ""
	}
	return p.strings[i]
}

// withoutTypes is the name of a generic function as [runtime.Frames] has it, and with it heap samples, waits and markers:
// f[...] for f[go.shape.int]. The rule is that of the runtime's funcNameForPrint.
func withoutTypes(name string) string {
	from, to := strings.IndexByte(name, '['), strings.LastIndexByte(name, ']')
	if from < 0 || to < from {
		return name
	}
	return name[:from] + "[...]" + name[to+1:]
}

func (p *tables) addFunction(b []byte) error {
	var id uint64
	var s dict.Function
	m := protobuf.Message{Rest: b}
	for v, ok := m.Read(); ok; v, ok = m.Read() {
		switch v.Number {
		case profileproto.FunctionID:
			id = v.Value
		case profileproto.FunctionName:
			s.Name = withoutTypes(p.text(v.Value))
		case profileproto.FunctionFile:
			s.File = p.text(v.Value)
		case profileproto.FunctionStart:
			s.Start = int64(v.Value)
		}
	}
	p.function[id] = s
	return intact(&m)
}

// addLocation reads a pc and its lines, of which the innermost comes first.
func (p *tables) addLocation(b []byte) error {
	var id uint64
	var l dict.Frame
	m := protobuf.Message{Rest: b}
	for v, ok := m.Read(); ok; v, ok = m.Read() {
		switch v.Number {
		case profileproto.LocationID:
			id = v.Value
		case profileproto.LocationAddress:
			l.PC = v.Value
		case profileproto.LocationLine:
			s, err := p.line(v.Bytes)
			if err != nil {
				return err
			}
			l.Functions = append(l.Functions, s)
		}
	}
	slices.Reverse(l.Functions)
	p.location[id] = l
	return intact(&m)
}

func (p *tables) line(b []byte) (s dict.Function, err error) {
	line := int64(0)
	m := protobuf.Message{Rest: b}
	for v, ok := m.Read(); ok; v, ok = m.Read() {
		switch v.Number {
		case profileproto.LineFunction:
			s = p.function[v.Value]
		case profileproto.LineNumber:
			line = int64(v.Value)
		}
	}
	s.Line = line
	return s, intact(&m)
}

// sample reads a row: its first value is the number of samples, the second the
// CPU time.
func (p *tables) sample(b []byte) (s Sample, err error) {
	var stack, values []uint64
	whole := true
	m := protobuf.Message{Rest: b}
	for v, ok := m.Read(); ok && whole; v, ok = m.Read() {
		switch v.Number {
		case profileproto.SampleLocations:
			stack, whole = v.Numbers(stack, maxDepth)
		case profileproto.SampleValues:
			values, whole = v.Numbers(values, 2)
		case profileproto.SampleLabel:
			if l := p.label(v.Bytes); l.Key == p.trackLabel {
				s.Track = l.Value
			} else if l.Key != "" && len(s.Labels) < rawformat.MaxLabels {
				s.Labels = append(s.Labels, l)
			}
		}
	}
	switch {
	case m.Bad || !whole:
		return s, errSample
	case len(values) != 2:
		return s, fmt.Errorf("%w: sample of %d values, want 2", errProfile, len(values))
	}
	for _, id := range stack {
		s.Stack = append(s.Stack, p.location[id])
	}
	s.Count, s.CPU = int64(values[0]), int64(values[1])
	return s, nil
}

func (p *tables) label(b []byte) (l dict.Label) {
	m := protobuf.Message{Rest: b}
	for v, ok := m.Read(); ok; v, ok = m.Read() {
		switch v.Number {
		case profileproto.LabelKey:
			l.Key = p.text(v.Value)
		case profileproto.LabelText:
			l.Value = p.text(v.Value)
		}
	}
	return l
}

// maxFunctions is how many functions of a stack are in a profile of the runtime.
const maxFunctions = 64

// MarkTruncated marks the stacks that the runtime has cut, and returns how many samples
// have such stacks.
func MarkTruncated(samples []Sample) (cut int64) {
	for i := range samples {
		s, functions := &samples[i], 0
		for _, l := range s.Stack {
			functions += max(1, len(l.Functions))
		}
		if functions >= maxFunctions {
			s.Stack = append(s.Stack, dict.Truncated)
			cut += s.Count
		}
	}
	return cut
}
