//go:build !linux

package recorder

import (
	"errors"
	"runtime"
)

// systemMetrics are counters of the operating system: none here but CPU time.
type systemMetrics struct{}

func (m *meter) openSystem(string) {
	if _, err := processCPU(); err != nil {
		m.miss("process CPU", err)
	} else {
		m.add(&gauge{
			specs: []counterSpec{{name: "process CPU", category: "CPU", description: "CPU time of all threads", unit: UnitNanoseconds, mode: 1}},
			read: func(v []count) bool {
				ns, err := processCPU()
				v[0] = count{value: ns, known: err == nil}
				return true
			},
		})
	}
	m.miss("CPU of threads, resident memory, input and output, network, cgroup, pressure, power", errors.New("not built for "+runtime.GOOS))
}

func (m *meter) attend() {}

func (m *systemMetrics) close() {}
