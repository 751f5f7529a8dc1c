package recorder

import (
	"cmp"
	"fmt"
)

// chooseCPU settles how CPU samples are taken, and keeps what meta says of it.
func (r *Recorder) chooseCPU(p *plan) {
	if p.CPU == CPUSignal || p.CPU == CPUAny {
		about, err := r.keeper.SampleBySignal(p.SampleHz, p.StackDepth)
		if err == nil {
			r.cpu, r.cpuTest = CPUSignal, about
			return
		}
		r.cpu = CPUOff
		if p.CPU == CPUAny {
			r.cpu = CPUPprof
		}
		r.cpuTest = fmt.Sprintf("no samples by signal, %v instead: %v", r.cpu, err)
	} else {
		r.cpu = p.CPU
	}
	r.keeper.SetSampling(r.cpu == CPUPprof, cmp.Or(r.cpuTest, r.cpu.String()))
	if r.cpu == CPUOff {
		r.features &^= FeatureSamples
	}
}

// String is what meta says.
func (m CPUMode) String() string {
	switch m {
	case CPUSignal:
		return "signal"
	case CPUAny:
		return "any"
	case CPUPprof:
		return "pprof"
	}
	return "off"
}
