// Package speedscope writes the format of speedscope (https://www.speedscope.app): one list of
// frames, and profiles that are samples and their weights.
//
// A track has a profile for each kind of value it has, one after the other. Speedscope shows one
// at a time, and opens that with the most samples:
//
//   - Samples. They weigh as long as their process says that samples lie apart, in nanoseconds, or
//     their number, without a unit, if that is unknown.
//   - CPU time, where it was measured and says something else.
//   - Waits, by how long they took; each measure, in its unit.
//   - Bytes that were allocated, and those of them in use at the end, summed up by stack.
//
// Values stand in the order of time, and neighbors of one stack are one. The viewer's axis is their
// sum: moments, and so idle time, have no place here. Neither have threads, goroutines, labels, and
// numbers of objects. Rows of other kinds, and values below 0, are in the ledger.
//
// A frame is a function: its name, file and, where known, first line. What has no name is its place
// in its module. A stack of more than 4,096 frames is cut on the outside.
//
// Rows are spilled to a temporary file until their track is complete; sums of the heap, and what is
// unique, are held in memory.
package speedscope

import (
	"cmp"
	"strconv"

	"gprof/convert/internal/jsontext"
	"gprof/convert/internal/pipeline"
	"gprof/convert/internal/totals"
	"gprof/stream"
	"gprof/stream/spill"
)

// Sink writes one file.
type Sink struct {
	out    *jsontext.Writer
	pipe   *pipeline.Writer
	tables *stream.Tables
	frames frames
	heap   *totals.Totals
	rows   *spill.File

	series   stream.Series // the last one; its track is being collected
	profiles []*profile    // of that track
	written  int64
	busiest  busiest
}

// busiest is the profile to be opened: of those with samples, the one with the most.
type busiest struct{ index, samples int64 }

// rowBytes is what is held for what is unique: the sums of stacks, and the numbers of frames with
// what tells functions apart.
var rowBytes = stream.RowBytes{Stack: 4, Frame: 4 + 64}

// New returns a Sink that writes to w, and closes it at the end. Rows are spilled to a temporary file
// in dir, "" is the system's directory for those.
func New(w *pipeline.Writer, dir string) *Sink {
	return &Sink{out: jsontext.NewWriter(w), pipe: w, rows: spill.New(dir)}
}

// Begin writes the frames.
func (s *Sink) Begin(t *stream.Tables) error {
	if err := t.Reserve(rowBytes.In(t)); err != nil {
		return err
	}
	s.tables = t
	s.heap = totals.New(t, s.addHeap)
	s.heap.Heap = true
	s.out.BeginObject()
	s.out.Member("$schema", "https://www.speedscope.app/file-format-schema.json")
	s.out.Member("exporter", "gprof")
	s.out.Member("name", nameOf(t))
	s.out.Object("shared")
	s.out.Array("frames")
	s.frames.build(t, s.out)
	s.out.EndArray()
	s.out.EndObject()
	s.out.Array("profiles")
	return s.err()
}

// nameOf is the name of the file in the viewer.
func nameOf(t *stream.Tables) string {
	switch n := len(t.Processes); n {
	case 0:
		return "empty recording"
	case 1:
		return t.Processes[0].Title()
	default:
		return t.Processes[0].Title() + " and " + strconv.Itoa(n-1) + " more"
	}
}

// Segment takes the rows of b.
func (s *Sink) Segment(b *stream.Batch) error {
	if b.Series.Process != s.series.Process || b.Series.Track != s.series.Track {
		s.endTrack()
	}
	begun := b.Series != s.series
	s.series = b.Series
	switch b.Series.Kind {
	case stream.Samples:
		s.samples(b, begun)
	case stream.Waits:
		s.values(b, begun, "waiting", nanoseconds)
	case stream.Measurements:
		c := s.tables.Counters.At(b.Series.Counter)
		s.values(b, begun, c.Name, unitOf(c.Unit))
	default:
		s.heap.Add(b) // which tells of kinds without a place
	}
	return s.err()
}

// samples takes samples into the profile of their number and that of their CPU time.
func (s *Sink) samples(b *stream.Batch, begun bool) {
	interval := s.tables.Process(b.Series.Process).Interval
	if begun {
		unit := nanoseconds
		if interval <= 0 {
			unit = none
		}
		s.begin("", unit)
		s.begin("CPU time", nanoseconds)
	}
	taken, cpu := s.profiles[0], s.profiles[1]
	for i, stack := range b.Stack {
		weight := max(0, b.Weight[i])
		taken.samples = totals.Plus(taken.samples, weight)
		if interval > 0 {
			weight = times(weight, interval)
		}
		taken.add(stack, weight)
		cpu.add(stack, b.CPU[i])
		cpu.differs = cpu.differs || b.CPU[i] > 0 && b.CPU[i] != weight
	}
	taken.flush()
	cpu.flush()
}

// values takes rows into the last profile, of its own if they are the first of a series.
func (s *Sink) values(b *stream.Batch, begun bool, what string, unit string) {
	if begun {
		s.begin(what, unit)
	}
	p := s.profiles[len(s.profiles)-1]
	below := int64(0)
	for i, stack := range b.Stack {
		if b.Value[i] < 0 {
			below++
		}
		p.add(stack, b.Value[i])
	}
	p.flush()
	s.lose(b.Series.Process, b.Series.Kind.String(), below)
}

// lose tells of values below 0, which the viewer refuses.
func (s *Sink) lose(process stream.ProcessID, what string, n int64) {
	if n > 0 {
		s.tables.Ledger.Add(stream.Line{Process: s.tables.Process(process).InstanceName(), Reason: stream.ReasonUnsupported, What: what, Where: "values below 0", Count: n})
	}
}

// addHeap takes the sums of a track into two profiles.
func (s *Sink) addHeap(sums *totals.Part) {
	below := int64(0)
	allocated := s.begin("allocated", bytes)
	for sum := range sums.All() {
		allocated.add(sum.Stack, sum.Allocated.Bytes)
	}
	allocated.flush()
	inUse := s.begin("in use", bytes)
	for sum := range sums.All() {
		left := sum.Allocated.Bytes - sum.Freed.Bytes
		if left < 0 {
			below++
		}
		inUse.add(sum.Stack, left)
	}
	inUse.flush()
	s.lose(sums.Process, "bytes in use", below)
}

// endTrack writes what was collected of a track.
func (s *Sink) endTrack() {
	s.heap.Finish()
	for _, p := range s.profiles {
		p.end()
		if p.sum > 0 && p.differs {
			s.write(p)
		} else {
			p.drop()
		}
	}
	s.profiles = s.profiles[:0]
	s.rows.Reset()
}

// Close writes the rest, and adds what has no place to the ledger of the tables.
func (s *Sink) Close() error {
	s.endTrack()
	if s.written == 0 { // the viewer wants one
		s.write(s.empty())
	}
	s.out.EndArray() // profiles
	s.out.Number("activeProfileIndex", s.busiest.index)
	s.out.EndObject()
	s.heap.Tell()
	if err := s.out.Flush(); err != nil {
		return err
	}
	if err := s.pipe.Wait(); err != nil { // pieces read the tables, and count
		return err
	}
	s.frames.tell(&s.tables.Ledger)
	if err := s.rows.Close(); err != nil {
		return err
	}
	return s.pipe.Close()
}

func (s *Sink) err() error { return cmp.Or(s.out.Err(), s.rows.Err()) }
