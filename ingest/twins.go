package ingest

import (
	"fmt"

	"gprof/decode"
	"gprof/stream"
)

// findTwins tells of each process that was sampled from outside which recording of its
// own it has, or which other sampler was first. They may be of different sessions.
func findTwins(rows []stream.Process, processes []*Process, ledger *stream.Ledger) {
	same := map[string][]int{}
	for i, p := range processes {
		if p.foreign == nil {
			if key := decode.Machine(p.Process); key != "" {
				same[key] = append(same[key], i)
			}
		}
	}
	for i, p := range processes {
		if p.foreign != nil || !decode.IsSampled(p.Process) {
			continue
		}
		for _, j := range same[decode.Machine(p.Process)] {
			if !counts(rows, processes, i, j) {
				continue
			}
			rows[i].Twin = rows[j].Instance
			ledger.Add(stream.Line{Process: p.Name(), Reason: stream.ReasonTwin, What: "processes", Where: fmt.Sprintf("sums take the samples of %016x", rows[j].Instance), Count: 1})
			break
		}
	}
}

// counts reports whether the samples of j are counted rather than those of i, which was
// sampled from outside: it recorded itself, or was sampled by another one before, at the
// same time.
func counts(rows []stream.Process, processes []*Process, i, j int) bool {
	a, b := &rows[i], &rows[j]
	if i == j || b.Interval == 0 || b.Twin != 0 || a.Start > b.End || b.Start > a.End {
		return false
	}
	return !decode.IsSampled(processes[j].Process) || j < i
}
