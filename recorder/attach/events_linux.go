package attach

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"gprof/rawformat/perfevent"
)

// events are the events that are opened for each thread: a clock that takes samples, and an event that fires when the thread
// leaves the processor.
type events struct {
	clock    unix.PerfEventAttr
	leaving  unix.PerfEventAttr
	layout   perfevent.Layout // of both
	offCPU   bool             // leaving is opened
	noKernel error            // why there are no frames of the kernel, nil: there are
	noStacks error            // why it is not known where threads leave the processor
	taps     []*tap           // one for each processor
}

// tap is the buffer of a processor.
type tap struct {
	cpu    int
	size   int     // of the buffer, if the kernel allows it
	buffer *buffer // nil: no event was opened yet
	fds    []int   // the first is the buffer's
}

// bitBuildID asks for build ids in records of mappings: Linux 5.12.
const bitBuildID = 1 << 34

// leavesPeriod tells the samples of leaving from those of the clock.
const leavesPeriod = 1

// newEvents asks for the first processors' buffers.
func newEvents(o *Options) (*events, error) {
	cpus, err := online()
	if err != nil {
		return nil, err
	}
	e := &events{}
	size := bufferSize
	if o.StackBytes > 0 {
		size = stacksSize
	}
	for _, cpu := range cpus {
		e.taps = append(e.taps, &tap{cpu: cpu, size: size})
	}
	e.clock = unix.PerfEventAttr{
		Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_CPU_CLOCK, Sample: uint64(o.period().Nanoseconds()),
		Sample_type: perfevent.SampleIP | perfevent.SampleTID | perfevent.SampleTime | perfevent.SamplePeriod | perfevent.SampleChain,
		Bits: unix.PerfBitInherit | unix.PerfBitMmap | unix.PerfBitMmap2 | unix.PerfBitComm | unix.PerfBitCommExec | unix.PerfBitTask |
			unix.PerfBitSampleIDAll | unix.PerfBitUseClockID | unix.PerfBitWatermark | bitBuildID,
		Clockid: unix.CLOCK_MONOTONIC, Wakeup: bufferSize / 4,
	}
	if o.StackBytes > 0 {
		e.clock.Sample_type |= perfevent.SampleUserRegs | perfevent.SampleUserStack
		e.clock.Sample_regs_user, e.clock.Sample_stack_user = wantedRegisters(), uint32(o.StackBytes)
	}
	if o.NoChildren {
		e.clock.Bits |= bitInheritThread
	}
	if !o.NoOffCPU {
		e.offCPU = true
		e.clock.Bits |= unix.PerfBitContextSwitch
	}
	e.leaving = e.clock
	e.leaving.Config, e.leaving.Sample = unix.PERF_COUNT_SW_CONTEXT_SWITCHES, leavesPeriod
	e.leaving.Bits &^= unix.PerfBitMmap | unix.PerfBitMmap2 | unix.PerfBitComm | unix.PerfBitCommExec | unix.PerfBitTask | unix.PerfBitContextSwitch | bitBuildID
	e.layout = perfevent.Layout{Sample: e.clock.Sample_type, Flags: perfevent.FlagIDAll, UserRegs: e.clock.Sample_regs_user}
	return e, nil
}

// bitInheritThread lets threads inherit events, but not processes: Linux 5.13.
const bitInheritThread = 1 << 35

// online lists the processors that are online.
func online() (cpus []int, err error) {
	const path = "/sys/devices/system/cpu/online"
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for part := range strings.SplitSeq(strings.TrimSpace(string(b)), ",") {
		from, to, ok := strings.Cut(part, "-")
		if !ok {
			to = from
		}
		first, err1 := strconv.Atoi(from)
		last, err2 := strconv.Atoi(to)
		if err := errors.Join(err1, err2); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		for cpu := first; cpu <= last; cpu++ {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}

// probe finds out which events are allowed for a thread. From then on only those are
// opened. The error is the kernel's when none is allowed.
func (e *events) probe(tid int) error {
	for {
		err := e.try(&e.clock, tid)
		switch {
		case errors.Is(err, unix.EINVAL) && e.clock.Bits&bitBuildID != 0:
			e.clock.Bits &^= bitBuildID // an older kernel
		case refused(err) && e.noKernel == nil:
			e.noKernel = err
			e.clock.Bits |= unix.PerfBitExcludeKernel
			e.noStacks = err // they leave in the kernel
		case err != nil:
			return err
		default:
			if e.offCPU && e.noStacks == nil {
				e.noStacks = e.try(&e.leaving, tid)
			}
			return nil
		}
	}
}

func refused(err error) bool { return errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) }

// try opens an event and closes it.
func (e *events) try(attr *unix.PerfEventAttr, tid int) error {
	fd, err := open(attr, tid, e.taps[0].cpu)
	if err == nil {
		err = unix.Close(fd)
	}
	return err
}

func open(attr *unix.PerfEventAttr, tid, cpu int) (int, error) {
	attr.Size = unix.PERF_ATTR_SIZE_VER8
	fd, err := unix.PerfEventOpen(attr, tid, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if errors.Is(err, unix.E2BIG) { // an older kernel, which knows all that we ask for
		attr.Size = unix.PERF_ATTR_SIZE_VER5
		fd, err = unix.PerfEventOpen(attr, tid, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
	}
	return fd, err
}

// add opens the events of a thread. The error is unix.ESRCH if it has ended.
func (e *events) add(tid int) error {
	for _, t := range e.taps {
		err := t.add(&e.clock, tid)
		if err == nil && e.offCPU && e.noStacks == nil {
			err = t.add(&e.leaving, tid)
		}
		if err != nil && !errors.Is(err, unix.ENODEV) { // it went offline meanwhile
			return err
		}
	}
	return nil
}

func (t *tap) add(attr *unix.PerfEventAttr, tid int) error {
	fd, err := open(attr, tid, t.cpu)
	if err != nil {
		return err
	}
	if t.buffer == nil {
		t.buffer, err = mapBuffer(fd, t.size)
	} else {
		err = unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_OUTPUT, t.fds[0])
	}
	if err != nil {
		unix.Close(fd)
		return err
	}
	t.fds = append(t.fds, fd)
	return nil
}

// close closes all events.
func (e *events) close() error {
	var errs []error
	for _, t := range e.taps {
		if t.buffer != nil {
			errs = append(errs, t.buffer.close())
		}
		for _, fd := range t.fds {
			errs = append(errs, unix.Close(fd))
		}
		t.buffer, t.fds = nil, nil
	}
	return errors.Join(errs...)
}

// test is the result of trying something.
type test struct{ what, result string }

// describe lists, for meta, what the kernel allows.
func (e *events) describe() []test {
	all := []test{{"kernel", "samples of the kernel's code, too"}}
	if e.noKernel != nil {
		all[0].result = "no samples of the kernel's code: " + e.noKernel.Error()
	}
	stacks := test{"stacks", "by frame pointers"}
	if n := e.clock.Sample_stack_user; n > 0 {
		stacks.result = fmt.Sprintf("by .eh_frame, in copies of up to %d bytes", n)
	}
	all = append(all, stacks)
	switch {
	case !e.offCPU:
		all = append(all, test{"off-cpu", "not asked for"})
	case e.noStacks != nil:
		all = append(all, test{"off-cpu", "without stacks: " + e.noStacks.Error()})
	default:
		all = append(all, test{"off-cpu", "with stacks"})
	}
	return all
}
