//go:build !linux

package counters

import (
	"errors"
	"runtime"

	"gprof/rawformat"
)

// systemMetrics are counters of the operating system: none here but CPU time.
type systemMetrics struct{}

func (m *Meter) openSystem(string) {
	if _, err := processCPU(); err != nil {
		m.miss("process CPU", err)
	} else {
		m.add(&gauge{
			specs: []Spec{{Name: rawformat.CounterProcessCPU, Category: "CPU", Description: "CPU time of all threads", Unit: rawformat.FormatNanoseconds, Mode: rawformat.CounterTotal}},
			read: func(v []Reading) bool {
				ns, err := processCPU()
				v[0] = Reading{Value: ns, Known: err == nil}
				return true
			},
		})
	}
	m.miss("CPU of threads, resident memory, input and output, network, cgroup, pressure, power", errors.New("not built for "+runtime.GOOS))
}

// Attend is for counters of threads: none here.
func (m *Meter) Attend() {}

func (m *systemMetrics) close() {}
