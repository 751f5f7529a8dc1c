package report

import (
	"testing"
	"time"

	"gprof/stream"
)

// The cost is of a process' whole life if its beginning is there, with what starting took;
// else of the part that is. Each part goes to its place.
func TestCost(t *testing.T) {
	const ms = int64(time.Millisecond)
	tables := &stream.Tables{Processes: []stream.Process{{Instance: 1, Start: 5000}, {Instance: 2, Start: 5000}}}
	series := func(process stream.ProcessID, kind stream.Kind, rows int64) stream.SeriesTally {
		return stream.SeriesTally{Series: stream.Series{Process: process, Kind: kind}, Tally: stream.Tally{Rows: rows}}
	}
	count := &stream.Count{Tables: tables, Series: []stream.SeriesTally{
		series(1, stream.Samples, 10), series(1, stream.Samples, 20), series(1, stream.Markers, 1000), series(1, stream.Counts, 99), series(2, stream.Samples, 7),
	}}
	counters := func(first stream.Time) map[string]span {
		return map[string]span{
			stream.CounterRecorderCPU: {level{first, 15 * ms}, level{first + 9e9, 60 * ms}},
			stream.CounterProcessCPU:  {level{first, 100 * ms}, level{first + 9e9, 1100 * ms}},
			stream.CounterRSS:         {level{first, 1}, level{first + 9e9, 2}},
		}
	}
	samples, markers := 30*perSample, 1000*perMarker
	for name, tt := range map[string]struct {
		first        stream.Time
		own, process int64
	}{
		"from its start":  {5000 + stream.Time(fromStart) - 1, 60 * ms, 1100 * ms},
		"without a start": {5000 + stream.Time(fromStart), 45 * ms, 1000 * ms},
	} {
		got := newCost(count.Tables.Process(1), recordedOf(count)[1], counters(tt.first))
		cpu := time.Duration(tt.own) + samples + markers
		want := cost{CPU: cpu, Own: time.Duration(tt.own), Samples: samples, Markers: markers, Process: time.Duration(tt.process), Share: float64(cpu) / float64(tt.process)}
		if got == nil || *got != want {
			t.Errorf("%s: %+v\nwant %+v", name, got, want)
		}
	}
	if got := newCost(count.Tables.Process(1), recorded{}, map[string]span{stream.CounterProcessCPU: {}}); got != nil {
		t.Errorf("without a counter of the recorder's: %+v", got)
	}
}
