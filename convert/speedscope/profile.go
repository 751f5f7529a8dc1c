package speedscope

import (
	"encoding/binary"
	"math"
	"strings"

	"gprof/convert/internal/jsontext"
	"gprof/convert/internal/pipeline"
	"gprof/convert/internal/totals"
	"gprof/stream"
	"gprof/stream/spill"
)

// The units of speedscope.
const (
	none        = "none"
	nanoseconds = "nanoseconds"
	bytes       = "bytes"
)

// unitOf is the unit of a measure.
func unitOf(f stream.Format) string {
	switch f {
	case stream.FormatNanoseconds:
		return nanoseconds
	case stream.FormatBytes:
		return bytes
	}
	return none
}

// profile is one that is being collected.
type profile struct {
	name, unit      string
	stacks, weights *spill.Buffer // of its rows, as varints
	stack           stream.StackID
	weight          int64 // of the last row, which the next one may belong to
	sum             int64
	samples         int64
	differs         bool // from the profile before it

	stackBuf, weightBuf []byte // scratch
}

// begin adds a profile to those of the track.
func (s *Sink) begin(what, unit string) *profile {
	p := &profile{name: s.titleOf(what), unit: unit, stacks: s.rows.NewBuffer(), weights: s.rows.NewBuffer()}
	p.differs = what != "CPU time"
	s.profiles = append(s.profiles, p)
	return p
}

// empty is the profile of a recording without any values.
func (s *Sink) empty() *profile {
	return &profile{name: nameOf(s.tables), unit: none, stacks: s.rows.NewBuffer(), weights: s.rows.NewBuffer()}
}

// titleOf names what a track has, and its process.
func (s *Sink) titleOf(what string) string {
	process, track := s.tables.Process(s.series.Process), s.tables.Tracks.At(s.series.Track)
	title := process.Title()
	if !track.Main || track.Name != process.Service && track.Name != process.Name {
		title += " · " + track.Name
	}
	if what != "" && !strings.HasSuffix(title, " ("+what+")") {
		title += " (" + what + ")"
	}
	return title
}

// add adds a row. One of the same stack as the last is added to that.
func (p *profile) add(stack stream.StackID, weight int64) {
	if weight <= 0 {
		return
	}
	p.sum = totals.Plus(p.sum, weight)
	if stack == p.stack {
		p.weight = totals.Plus(p.weight, weight)
		return
	}
	p.push()
	p.stack, p.weight = stack, weight
}

// push ends the last row.
func (p *profile) push() {
	if p.weight > 0 {
		p.stackBuf = binary.AppendUvarint(p.stackBuf, uint64(p.stack))
		p.weightBuf = binary.AppendUvarint(p.weightBuf, uint64(p.weight))
	}
	p.weight = 0
}

// flush spills rows; the file keeps the error.
func (p *profile) flush() {
	p.stacks.Write(p.stackBuf)
	p.weights.Write(p.weightBuf)
	p.stackBuf, p.weightBuf = p.stackBuf[:0], p.weightBuf[:0]
}

// end spills the last row, too.
func (p *profile) end() {
	p.push()
	p.flush()
}

// drop forgets all rows.
func (p *profile) drop() {
	p.stacks.Drain(func([]byte) {})
	p.weights.Drain(func([]byte) {})
}

// write writes a profile that has ended.
func (s *Sink) write(p *profile) {
	if p.samples > s.busiest.samples {
		s.busiest = busiest{s.written, p.samples}
	}
	s.written++
	s.out.BeginObject()
	s.out.Member("type", "sampled")
	s.out.Member("name", p.name)
	s.out.Member("unit", p.unit)
	s.out.Number("startValue", 0)
	s.out.Number("endValue", p.sum)
	s.out.Array("samples")
	s.column(p.stacks, s.frames.appendStack)
	s.out.EndArray()
	s.out.Array("weights")
	s.column(p.weights, jsontext.AppendUint)
	s.out.EndArray()
	s.out.EndObject()
}

// pieceRows bounds what is formatted at a time: a stack may have thousands of frames.
const pieceRows = 512

// column writes the values of a buffer as the elements of a list.
func (s *Sink) column(of *spill.Buffer, format func(dst []byte, value uint64) []byte) {
	of.Drain(func(block []byte) { // the file keeps the error
		for len(block) > 0 {
			values := make([]uint64, 0, min(len(block), pieceRows))
			for len(values) < pieceRows && len(block) > 0 {
				value, n := binary.Uvarint(block)
				values, block = append(values, value), block[n:]
			}
			s.out.Splice()
			s.pipe.Go(pipeline.Numbers, func(dst []byte) []byte {
				for _, value := range values {
					dst = append(format(dst, value), ',')
				}
				return dst[:len(dst)-1]
			})
		}
	})
}

// times is the product of numbers that are not below 0, saturated.
func times(n, factor int64) int64 {
	if n > math.MaxInt64/factor {
		return math.MaxInt64
	}
	return n * factor
}
