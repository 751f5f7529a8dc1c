// Package folded writes folded stacks: a line of names and a number for each, as flamegraph.pl,
// inferno and speedscope read them.
//
//	checkout · pid 1;worker 3;main.main;main.serve;main.encode 42
//
// A line begins with process and track; the number is that of samples. Equal lines are summed up,
// and sorted by name from the root on. A stack of more than 4,096 names is cut on the outside. A
// function without a name is its place in its module.
//
// Of pprof's profiles without samples the number is that of what there is, as bytes in use or nanoseconds. CPU time and
// addresses have no place here; other rows are in the ledger. Names, and
// sums of the stacks of one track, are held in memory; other tracks are spilled to a temporary
// file.
package folded

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gprof/convert/internal/calls"
	"gprof/convert/internal/pipeline"
	"gprof/convert/internal/totals"
	"gprof/stream"
	"gprof/stream/spill"
)

// flushSize is how many bytes are buffered.
const flushSize = 64 << 10

// Sink writes one file.
type Sink struct {
	pipe   *pipeline.Writer
	tables *stream.Tables
	totals *totals.Totals
	meter  calls.Meter // says what is summed up
	tree   tree
	sums   *spill.File
	tracks []track // as they come

	// Sums of the lines with the same beginning.
	counts []int64 // by node of the tree
	nodes  []int32 // that have one

	buf   []byte   // not yet written
	line  []string // scratch: names, leaf first
	cut   int64    // lines
	below int64    // sums of measurements below 0
}

// track is a track's sums: the beginning of its lines, and number and samples of each node that has
// any.
type track struct {
	process, name string
	sums          *spill.Buffer
}

func (t *track) compare(o *track) int {
	return cmp.Or(cmp.Compare(t.process, o.process), cmp.Compare(t.name, o.name))
}

// New returns a Sink that writes to w, and closes it at the end. Sums are spilled to a temporary
// file in dir, "" is the system's directory for those.
func New(w *pipeline.Writer, dir string) *Sink { return &Sink{pipe: w, sums: spill.New(dir)} }

// Begin makes the tree of names.
func (s *Sink) Begin(t *stream.Tables) error {
	if err := t.Reserve(rowBytes.In(t)); err != nil {
		return err
	}
	s.tables = t
	s.meter.Of = calls.Default(t)
	if err := s.meter.Begin(t); err != nil {
		return err
	}
	s.totals = totals.New(t, s.track)
	s.totals.Heap, s.totals.Waits, s.totals.Measurements = s.meter.Of == calls.Heap || s.meter.Of == calls.Allocations, s.meter.Of == calls.Waits, s.meter.Of.IsMeasure()
	s.tree.build(t)
	s.counts = make([]int64, len(s.tree.nodes))
	return nil
}

// Segment adds the rows of b.
func (s *Sink) Segment(b *stream.Batch) error {
	if b.Series.Kind == stream.Measurements && s.meter.Of.IsMeasure() && !s.meter.Counts(b.Series) {
		s.tables.Ledger.Add(stream.Line{Process: s.tables.Process(b.Series.Process).InstanceName(), Reason: stream.ReasonNoPlace,
			What: stream.Measurements.String(), Where: "of another measure", Count: int64(b.Len())})
		return nil
	}
	s.totals.Add(b)
	return s.sums.Err()
}

// track spills the sums of a track.
func (s *Sink) track(sums *totals.Part) {
	t := track{clean(s.tables.Process(sums.Process).Title()), clean(s.tables.Tracks.At(sums.Track).Name), s.sums.NewBuffer()}
	var sum []byte
	for total := range sums.All() {
		if weight := s.weight(total); weight > 0 {
			sum = binary.AppendUvarint(sum[:0], uint64(s.tree.nodeOf[total.Stack]))
			t.sums.Write(binary.AppendUvarint(sum, uint64(weight))) // it keeps its error
		}
	}
	s.tracks = append(s.tracks, t)
}

// weight is the number of a line: of samples, bytes, or in the unit of a measure.
func (s *Sink) weight(t *totals.Total) int64 {
	switch s.meter.Of {
	case "":
		return t.Weight
	case calls.Heap:
		return t.Allocated.Bytes - t.Freed.Bytes
	case calls.Allocations:
		return t.Allocated.Bytes
	case calls.Waits:
		return t.Wall
	}
	if t.Value < 0 {
		s.below++
	}
	return t.Value
}

// Close writes all lines, and adds what was lost to the ledger of the tables. Tracks of the same
// names are merged.
func (s *Sink) Close() error {
	s.totals.Finish()
	slices.SortFunc(s.tracks, func(a, b track) int { return a.compare(&b) })
	for i, next := 0, 0; i < len(s.tracks); i = next {
		for next = i; next < len(s.tracks) && s.tracks[next].compare(&s.tracks[i]) == 0; next++ {
			s.tracks[next].sums.Drain(s.add) // the file keeps its error
		}
		s.writeTrack(&s.tracks[i])
	}
	s.totals.Tell()
	if s.below > 0 {
		s.tables.Ledger.Add(stream.Line{Reason: stream.ReasonNoPlace, What: "stacks", Where: "of measurements below 0, as in differences", Count: s.below})
	}
	if s.cut > 0 {
		s.tables.Ledger.Add(stream.Line{Reason: stream.ReasonCut, What: "lines", Where: fmt.Sprintf("of more than %d names: the outermost are left out; other formats have them", maxNames), Count: s.cut})
	}
	if err := s.sums.Close(); err != nil {
		return err
	}
	if _, err := s.pipe.Write(s.buf); err != nil {
		return err
	}
	return s.pipe.Close()
}

// add adds sums of a track.
func (s *Sink) add(sums []byte) {
	for len(sums) > 0 {
		node, n := binary.Uvarint(sums)
		weight, m := binary.Uvarint(sums[n:])
		if s.counts[node] == 0 {
			s.nodes = append(s.nodes, int32(node))
		}
		s.counts[node] = totals.Plus(s.counts[node], int64(weight))
		sums = sums[n+m:]
	}
}

// writeTrack writes and drops the summed lines.
func (s *Sink) writeTrack(t *track) {
	slices.Sort(s.nodes)
	for _, node := range s.nodes {
		s.write(t, node)
		s.counts[node] = 0
	}
	s.nodes = s.nodes[:0]
}

// write writes a line.
func (s *Sink) write(t *track, node int32) {
	s.buf = append(append(append(s.buf, t.process...), ';'), t.name...)
	var cut bool
	if s.line, cut = s.tree.names(s.line[:0], node); cut {
		s.cut++
	}
	for _, name := range slices.Backward(s.line) {
		s.buf = append(append(s.buf, ';'), name...)
	}
	s.buf = append(strconv.AppendInt(append(s.buf, ' '), s.counts[node], 10), '\n')
	if len(s.buf) >= flushSize {
		s.pipe.Write(s.buf) // it keeps its error
		s.buf = s.buf[:0]
	}
}

// nameOf is the text of a frame.
func nameOf(t *stream.Tables, f stream.Frame) string {
	if f.Function != 0 {
		return clean(t.Strings.At(f.Function))
	}
	address := "0x" + strconv.FormatUint(f.Offset, 16)
	if f.Module == 0 {
		return address
	}
	return clean(t.Modules.At(f.Module).Name) + "+" + address
}

// clean replaces what would end a name or a line.
func clean(name string) string {
	if name == "" {
		return "(no name)"
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == ';':
			return ':'
		case unicode.IsControl(r):
			return ' '
		}
		return r // what is not UTF-8 has become U+FFFD
	}, name)
}
