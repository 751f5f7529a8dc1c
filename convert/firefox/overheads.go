package firefox

import (
	"gprof/convert/internal/spill"
	"gprof/convert/internal/viewer"
	"gprof/stream"
)

// overheads is what the recorder itself cost in the process being written, in
// microseconds but for the time.
type overheads struct {
	sum   viewer.Overheads
	count int64
	time  column
	costs [len(costNames)]column
}

// costNames are the names of the columns, in the order of the arguments.
var costNames = [...]string{"locking", "expiredMarkerCleaning", "counters", "threads"}

func (o *overheads) allocate(f *spill.File) {
	o.time = newColumn(f)
	for k := range o.costs {
		o.costs[k] = newColumn(f)
	}
}

func (o *overheads) rows(b *stream.Batch) {
	for i, at := range b.Time {
		o.time.add(int64(at))
		for k, ns := range o.sum.Add(b, i) {
			o.costs[k].add(ns)
		}
	}
	o.count += int64(b.Len())
	o.time.flush()
	for k := range o.costs {
		o.costs[k].flush()
	}
}

func (o *overheads) end(s *Sink) {
	out := s.costs.Writer
	out.BeginObject()
	out.Key("pid")
	out.String(s.pid())
	out.Key("mainThreadIndex")
	out.Int(int64(s.main))
	out.Key("samples")
	out.BeginObject()
	writeColumnTo(out, "time", &o.time, s.appendTime)
	for k := range o.costs {
		writeColumnTo(out, costNames[k], &o.costs[k], appendMicros)
	}
	out.Key("length")
	out.Int(o.count)
	out.EndObject()
	o.sum.WriteStatistics(out)
	out.EndObject()
	s.columns.Rewind()
	o.count = 0
}
