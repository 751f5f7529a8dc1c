package recorder

import (
	"cmp"
	"fmt"
	"gprof/recorder/internal/profile"
)

// chooseCPU settles how CPU samples are taken, and keeps what meta says of it.
func (r *Recorder) chooseCPU(p *plan) {
	defer func() {
		if r.cpu == CPUOff {
			r.features &^= FeatureSamples
		}
		by := cmp.Or(r.cpuTest, r.cpu.String())
		r.sampledBy.Store(&by)
	}()
	r.cpu = p.CPU
	if p.CPU != CPUSignal && p.CPU != CPUAny {
		return
	}
	err := r.sampler.open(&r.keeper, p.SampleHz, p.StackDepth)
	if err == nil {
		r.cpu, r.cpuTest = CPUSignal, r.sampler.describe(p.SampleHz)
		return
	}
	r.cpu = CPUOff
	if p.CPU == CPUAny {
		r.cpu = CPUPprof
	}
	r.cpuTest = fmt.Sprintf("no samples by signal, %v instead: %v", r.cpu, err)
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

// samplePeriod is what a sample stands for, in ns of CPU time; 0 none.
func (k *keeper) samplePeriod() int64 {
	switch k.cpu {
	case CPUSignal:
		return k.sampler.samplePeriod()
	case CPUPprof:
		return int64(profile.Interval)
	}
	return 0
}
