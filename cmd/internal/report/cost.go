package report

import (
	"fmt"
	"time"

	"gprof/cmd/internal/human"
	"gprof/stream"
)

// cost is the CPU time that recording took of a process: what the recorder measured of its
// own work, and what samples and markers take as a rule, see docs/costs.md. It is of the
// process' whole life if its beginning is recorded, else of the time that is.
type cost struct {
	CPU     time.Duration `json:"cpu_ns"` // the sum of the next three
	Own     time.Duration `json:"own_ns"`
	Samples time.Duration `json:"samples_ns"`
	Markers time.Duration `json:"markers_ns"`
	Process time.Duration `json:"process_cpu_ns"` // of the whole process
	Share   float64       `json:"share"`          // of the process' CPU time
}

// CPU time of the threads that are interrupted for a sample, or that make a marker. They are
// the larger ones of the figures in docs/costs.md.
const (
	perSample = 3200 * time.Nanosecond
	perMarker = 50 * time.Nanosecond
)

// fromStart is how soon after its start a recorder has read its counters.
const fromStart = time.Second

// newCost is nil if the CPU times were not recorded.
func newCost(c *stream.Count, id stream.ProcessID, counters map[string]span) *cost {
	own, ok := counters[stream.CounterRecorderCPU]
	if !ok {
		return nil
	}
	process := counters[stream.CounterProcessCPU]
	if own.first.at-c.Tables.Process(id).Start < stream.Time(fromStart) {
		own.first.value, process.first.value = 0, 0 // with what starting took
	}
	s := &cost{Own: time.Duration(own.last.value - own.first.value), Process: time.Duration(process.last.value - process.first.value)}
	for i := range c.Series {
		switch series := &c.Series[i]; {
		case series.Process != id:
		case series.Kind == stream.Samples:
			s.Samples += time.Duration(series.Rows) * perSample
		case series.Kind == stream.Markers:
			s.Markers += time.Duration(series.Rows) * perMarker
		}
	}
	s.CPU = s.Own + s.Samples + s.Markers
	if s.Process > 0 {
		s.Share = float64(s.CPU) / float64(s.Process)
	}
	return s
}

// String is the cost for a person.
func (s *cost) String() string {
	return fmt.Sprintf("%.2f %% of %s of CPU time: its own work %s, samples about %s, markers about %s", 100*s.Share,
		human.Time(int64(s.Process)), human.Time(int64(s.Own)), human.Time(int64(s.Samples)), human.Time(int64(s.Markers)))
}
