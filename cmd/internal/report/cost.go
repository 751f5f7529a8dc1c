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

// recorded is how much of a process was recorded, in rows.
type recorded struct{ samples, markers int64 }

// recordedOf is that of each process, by ProcessID.
func recordedOf(c *stream.Count) []recorded {
	all := make([]recorded, len(c.Tables.Processes)+1)
	for i := range c.Series {
		switch series := &c.Series[i]; series.Kind {
		case stream.Samples:
			all[series.Process].samples += series.Rows
		case stream.Markers:
			all[series.Process].markers += series.Rows
		}
	}
	return all
}

// newCost is nil if the CPU times were not recorded.
func newCost(p *stream.Process, rows recorded, counters map[string]span) *cost {
	own, ok := counters[stream.CounterRecorderCPU]
	if !ok {
		return nil
	}
	process := counters[stream.CounterProcessCPU]
	if own.first.at-p.Start < stream.Time(fromStart) {
		own.first.value, process.first.value = 0, 0 // with what starting took
	}
	s := &cost{Own: time.Duration(own.last.value - own.first.value), Process: time.Duration(process.last.value - process.first.value),
		Samples: time.Duration(rows.samples) * perSample, Markers: time.Duration(rows.markers) * perMarker}
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
