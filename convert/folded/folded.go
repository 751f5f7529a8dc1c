// Package folded writes folded stacks: a line for each, of names and a number,
// as flamegraph.pl, inferno and speedscope read them.
//
//	checkout · pid 1;worker 3;main.main;main.serve;main.encode 42
//
// A line begins with the process and the track; the number is that of samples.
// Lines with the same names are one line, and all are in the order of their
// names, from the root on. A function without a name is its place in its module.
//
// CPU time and addresses, and what is not a sample, have no place here; rows
// that are no samples are in the ledger. What is held in memory are names, and
// 16 bytes for each stack of a track.
package folded

import (
	"cmp"
	"slices"
	"strconv"

	"gprof/convert/internal/ordered"
	"gprof/convert/internal/totals"
	"gprof/stream"
)

// flushSize is how many bytes are collected before they are written.
const flushSize = 64 << 10

// Sink writes one file.
type Sink struct {
	pipe   *ordered.Writer
	tables *stream.Tables
	totals *totals.Totals
	tree   tree
	tracks []path // as they come
	rows   []row

	buf  []byte   // not yet written
	line []string // scratch: names, leaf first
}

// path is what the lines of a track begin with.
type path struct{ process, track string }

func (p path) compare(o path) int {
	return cmp.Or(cmp.Compare(p.process, o.process), cmp.Compare(p.track, o.track))
}

// row is some samples of a track.
type row struct {
	track int32 // in tracks
	node  int32 // of the tree
	count int64
}

// New returns a Sink that writes to w, and closes it at the end.
func New(w *ordered.Writer) *Sink { return &Sink{pipe: w} }

// Begin makes the tree of names.
func (s *Sink) Begin(t *stream.Tables) error {
	s.tables = t
	s.totals = totals.New(t, s.track)
	s.tree.build(t)
	return nil
}

// Segment adds the rows of b.
func (s *Sink) Segment(b *stream.Batch) error {
	s.totals.Add(b)
	return nil
}

// track keeps the sums of a track.
func (s *Sink) track(process stream.ProcessID, track stream.TrackID, sums []totals.Total) {
	s.tracks = append(s.tracks, path{clean(s.tables.Process(process).Title()), clean(s.tables.Tracks.At(track).Name)})
	for _, sum := range sums {
		if sum.Weight > 0 {
			s.rows = append(s.rows, row{int32(len(s.tracks) - 1), s.tree.nodeOf[sum.Stack], sum.Weight})
		}
	}
}

// Close writes all lines, and adds what was lost to the ledger of the tables.
func (s *Sink) Close() error {
	s.totals.Finish()
	s.sort()
	for i := 0; i < len(s.rows); {
		r, next := s.rows[i], i+1
		for ; next < len(s.rows) && s.rows[next].track == r.track && s.rows[next].node == r.node; next++ {
			r.count = totals.Plus(r.count, s.rows[next].count)
		}
		s.write(r)
		i = next
	}
	s.totals.Tell()
	if _, err := s.pipe.Write(s.buf); err != nil {
		return err
	}
	return s.pipe.Close()
}

// sort orders the rows by their names. Tracks of the same names become one.
func (s *Sink) sort() {
	sorted := slices.Clone(s.tracks)
	slices.SortFunc(sorted, path.compare)
	sorted = slices.Compact(sorted)
	for i := range s.rows {
		r := &s.rows[i]
		at, _ := slices.BinarySearchFunc(sorted, s.tracks[r.track], path.compare)
		r.track = int32(at)
	}
	s.tracks = sorted
	slices.SortFunc(s.rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.track, b.track), cmp.Compare(a.node, b.node))
	})
}

// write writes a line.
func (s *Sink) write(r row) {
	track := s.tracks[r.track]
	s.buf = append(append(append(s.buf, track.process...), ';'), track.track...)
	s.line = s.tree.names(s.line[:0], r.node)
	for _, name := range slices.Backward(s.line) {
		s.buf = append(append(s.buf, ';'), name...)
	}
	s.buf = append(strconv.AppendInt(append(s.buf, ' '), r.count, 10), '\n')
	if len(s.buf) >= flushSize {
		s.pipe.Write(s.buf) // it keeps its error
		s.buf = s.buf[:0]
	}
}
