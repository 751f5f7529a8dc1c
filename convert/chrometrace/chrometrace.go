// Package chrometrace writes Chrome's trace event format: JSON that many viewers of timelines read, such as Perfetto, Chrome's own
// (about:tracing, and the one in go tool trace) and speedscope. It is the lesser sibling of package perfetto, for
// tools that want JSON.
//
// The stream's terms become the format's:
//
//   - Processes and tracks are processes and threads, by numbers: see convert/internal/timeline.
//
//   - Markers are complete events, instants, and beginnings without an end, with their fields as args, and their
//     stacks. Of one tid they enclose each other or don't overlap; what does is on another tid of the same name.
//
//   - Fields that are flows are flow events, from place to place in the order of time. Only slices have them.
//
//   - Samples are the member samples, weighted. Viewers that know it, such as speedscope, take the stacks from stackFrames.
//
//   - Counters, delays and the recorder's own cost are counters.
//
//   - Waits and measurements are instants with a stack and a value, on tids of their own.
//
//   - Pauses, pages and logs are events of their process.
//
//   - What is known of processes, and what is missing from the recording, is in otherData.
//
// Times are in microseconds, with three decimals, since the start of the run, whose real time is
// baseTimeNanoseconds. Heap samples, the
// CPU time of samples, and their goroutines and labels have no place; the ledger counts them.
//
// The file is written in one pass: samples, flows, and the markers of a track wait in temporary files.
package chrometrace

import (
	"strconv"

	"gprof/convert/internal/jsontext"
	"gprof/convert/internal/pipeline"
	"gprof/convert/internal/timeline"
	"gprof/convert/internal/viewer"
	"gprof/stream"
	"gprof/stream/spill"
)

// Sink writes one file.
type Sink struct {
	pipe   *pipeline.Writer
	tables *stream.Tables
	lost   *viewer.Ledger
	start  stream.Time // 0 of the output
	any    bool        // an event is written
	failed error

	numbers timeline.Numbers
	series  stream.Series
	process stream.ProcessID
	track   stream.TrackID
	pid     int64
	tid     int64            // of the track
	below   map[string]int64 // tids of the process besides tracks, by name

	marks   *timeline.Marks
	lanes   *lanes
	form    eventForm
	flows   *timeline.Marks
	samples *spill.File
	rows    *spill.Buffer

	stackless bool // a sample has no stack

	event, body []byte // scratch
}

// New returns a Sink that writes to w, and closes it at the end. Temporary files are in dir, "" is the
// system's directory for those.
func New(w *pipeline.Writer, dir string) *Sink {
	s := &Sink{pipe: w, marks: timeline.NewMarks(dir), flows: timeline.NewMarks(dir), samples: spill.New(dir)}
	s.rows = s.samples.NewBuffer()
	return s
}

// Begin begins the list of events.
func (s *Sink) Begin(t *stream.Tables) error {
	if err := t.Reserve(stream.RowBytes{Track: 8}.In(t)); err != nil {
		return err
	}
	s.tables, s.lost, s.start = t, viewer.NewLedger(t), viewer.StartOf(t)
	s.numbers = timeline.Number(t)
	// PyTorch's member for the real time of the output's 0.
	s.write(strconv.AppendInt([]byte(`{"displayTimeUnit":"ns","baseTimeNanoseconds":`), int64(s.start), 10))
	s.write([]byte(`,"traceEvents":[`))
	return s.err()
}

// Segment writes the rows of b.
func (s *Sink) Segment(b *stream.Batch) error {
	s.reach(b.Series)
	switch b.Series.Kind {
	case stream.Samples:
		s.addSamples(b)
	case stream.Waits, stream.Measurements:
		s.addWeighted(b)
	case stream.Markers:
		s.addMarkers(b)
	case stream.Delays:
		s.addDelays(b)
	case stream.Allocations:
		s.lost.LoseKind(s.process, stream.Allocations, int64(b.Len()))
	case stream.Counts:
		s.addCounts(b)
	case stream.Overheads:
		s.addOverheads(b)
	case stream.Pauses:
		s.addPauses(b)
	case stream.Logs:
		s.addLogs(b)
	case stream.Pages:
		s.addPages(b)
	}
	return s.err()
}

// reach goes to the series of a segment. Processes before it are named, of which there are no rows.
func (s *Sink) reach(to stream.Series) {
	if to == s.series {
		return
	}
	if to.Process != s.process || to.Track != s.track || !to.Kind.Tracked() && to.Kind != s.series.Kind {
		s.endLanes()
	}
	for s.process < to.Process {
		s.beginProcess(s.process + 1)
	}
	if s.track = to.Track; to.Track != 0 {
		s.tid = s.numbers.Tids[to.Track]
	}
	s.series = to
}

// beginProcess names a process and its threads.
func (s *Sink) beginProcess(id stream.ProcessID) {
	s.process, s.track, s.pid, s.below = id, 0, s.numbers.Pids[id], map[string]int64{}
	p := s.tables.Process(id)
	s.name("process_name", "name", 0, timeline.Program(p))
	s.name("process_labels", "labels", 0, p.Title())
	for track := stream.TrackID(1); int(track) <= s.tables.Tracks.Len(); track++ {
		if of := s.tables.Tracks.At(track); of.Process == id {
			s.name("thread_name", "name", s.numbers.Tids[track], of.Name)
			if of.Main {
				s.tid = s.numbers.Tids[track]
			}
		}
	}
}

// name names a process, or a thread of it.
func (s *Sink) name(what, key string, tid int64, name string) {
	e := jsontext.AppendString(append(s.begin('M', tid), `,"name":"`+what+`","args":{"`+key+`":`...), name)
	s.end(append(e, '}'))
}

// Close writes the rest, and adds what has no place to the ledger of the tables.
func (s *Sink) Close() error {
	s.endLanes()
	s.reach(stream.Series{Process: stream.ProcessID(len(s.tables.Processes)), Kind: stream.Pages})
	s.writeFlows()
	s.write([]byte("]"))
	s.writeFrames()
	s.writeSamples()
	s.writeOther()
	s.write([]byte("}\n"))
	s.lost.Tell()
	for _, file := range []interface{ Close() error }{s.marks, s.flows, s.samples} {
		if err := file.Close(); err != nil {
			return err
		}
	}
	if s.failed != nil {
		return s.failed
	}
	return s.pipe.Close()
}

func (s *Sink) err() error {
	for _, err := range []error{s.failed, s.marks.Err(), s.flows.Err(), s.samples.Err()} {
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Sink) write(text []byte) {
	if s.failed == nil {
		_, s.failed = s.pipe.Write(text)
	}
}

// begin begins an event of the process, in scratch memory.
func (s *Sink) begin(phase byte, tid int64) []byte {
	e := append(s.event[:0], `{"ph":"`...)
	e = append(append(e, phase), `","pid":`...)
	e = strconv.AppendInt(e, s.pid, 10)
	if tid != 0 {
		e = strconv.AppendInt(append(e, `,"tid":`...), tid, 10)
	}
	return e
}

// at begins an event of some time.
func (s *Sink) at(phase byte, tid int64, at stream.Time) []byte {
	return s.appendTime(append(s.begin(phase, tid), `,"ts":`...), at)
}

// end ends an event, and writes it.
func (s *Sink) end(event []byte) {
	s.event = append(event, '}')
	if s.any {
		s.write([]byte(",\n"))
	}
	s.any = true
	s.write(s.event)
}

// appendTime appends a time in microseconds.
func (s *Sink) appendTime(dst []byte, at stream.Time) []byte {
	return jsontext.AppendFixed(dst, int64(at-s.start), 3)
}
