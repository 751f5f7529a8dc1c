package recorder

import (
	"fmt"
	"slices"
	"time"

	"gprof/rawformat"
)

// windowLength is how long a CPU profile runs: a second, less what makes its
// end meet one of the rounds of 100 ms in which the runtime collects samples.
// StopCPUProfile waits for the next round, in which nothing is sampled.
const windowLength = 990 * time.Millisecond

// samplingInterval is that of runtime/pprof.
const samplingInterval = 10 * time.Millisecond

var cpuWindow = NewEvent2("cpu window", Int("samples"), Duration("cpu"),
	Category("Profiler", "grey"), TooltipLabel("CPU samples lie somewhere in this window"))

// sampleCPU runs one CPU profile after the other. It holds the process' only
// one, which is why [CPUPprof] has to be asked for.
func (r *Recorder) sampleCPU() {
	var profile cpuProfiling
	skipped := false
	for r.awaitResume() {
		if err := profile.start(); err != nil {
			r.skipWindow(err, skipped)
			skipped = true
			r.sleep(windowLength)
			continue
		}
		skipped = false
		begin := Now()
		r.sleep(windowLength)
		gzipped, end := profile.stop()
		if err := r.writeWindow(gzipped, begin, end); err != nil {
			r.lose(rawformat.LostSamples, 1, 0)
			r.log(rawformat.LogError, fmt.Sprintf("cpu window: %v", err))
		}
	}
}

// awaitResume waits while recording is paused; false when it is to stop. From
// its return to the next call samples may be written, see rest.
func (r *Recorder) awaitResume() bool {
	for {
		select {
		case <-r.quit:
			return false
		default:
		}
		r.sampling.Store(true) // first: who pauses looks at it afterwards
		if r.samples() {
			return true
		}
		r.sampling.Store(false)
		select {
		case <-r.quit:
		case <-r.shift:
		}
	}
}

// sleep waits that long, or until recording is paused, resumed or stopped.
func (r *Recorder) sleep(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-r.shift:
	case <-r.quit:
	}
}

// skipWindow notes that the program's own profile is running. One line is
// enough for as long as it lasts; every window is counted.
func (r *Recorder) skipWindow(err error, again bool) {
	r.lose(rawformat.LostSamples, 1, 0)
	if !again {
		r.log(rawformat.LogWarn, fmt.Sprintf("no CPU samples for now: %v", err))
	}
}

// writeWindow writes the samples of a profile and the marker of their window.
func (r *Recorder) writeWindow(gzipped []byte, begin, end Time) error {
	<-r.mapped
	before := Now()
	p, err := readProfile(gzipped)
	if err != nil {
		return err
	}
	p.samples = slices.DeleteFunc(p.samples, func(c cpuSample) bool { return r.leavesOut(c.track) })
	p.markTruncated(r)
	slots, err := spread(p.samples, begin, end)
	if err != nil {
		return err
	}
	r.turning.Lock() // the ids count in one generation of the dictionary
	defer r.turning.Unlock()
	rows := make([]sampleRow, len(p.samples))
	for i := range rows {
		rows[i] = r.sampleRow(&p.samples[i])
	}
	cpu := int64(0)
	for _, s := range slots {
		r.writeSample(&rows[s.row], s, end-begin)
		cpu += s.cpu
	}
	r.mark(cpuWindow.handle, markInterval, r.clock.at(end), r.clock.at(begin), pack(len(slots)), pack(time.Duration(cpu)), nil)
	r.spent.samples.Add(int64(Now() - before))
	r.spent.taken.Add(int64(len(slots)))
	return nil
}
