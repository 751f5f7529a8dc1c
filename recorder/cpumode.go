package recorder

import (
	"cmp"
	"fmt"
	"gprof/recorder/internal/profile"
	"gprof/recorder/internal/sampler"
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
	err := r.sampler.Open(r.samplerHost(), p.SampleHz, p.StackDepth)
	if err == nil {
		r.cpu, r.cpuTest = CPUSignal, r.sampler.Describe(p.SampleHz)
		return
	}
	r.cpu = CPUOff
	if p.CPU == CPUAny {
		r.cpu = CPUPprof
	}
	r.cpuTest = fmt.Sprintf("no samples by signal, %v instead: %v", r.cpu, err)
}

func (k *keeper) samplerHost() sampler.Host {
	return sampler.Host{Recording: k.rec, Ring: k.ring, Files: k.files, Dict: k.dict, Limit: k.limit, Maintain: k.maintainRing, Complain: k.complain,
		Ended: func(why string) { k.sampledBy.Store(&why) }}
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
		return k.sampler.Period()
	case CPUPprof:
		return int64(profile.Interval)
	}
	return 0
}
