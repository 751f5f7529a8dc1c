//go:build linux && (amd64 || arm64) && !gprof_portable && !go1.28

package sampler

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"gprof/chunks"
	"gprof/rawformat"
	"gprof/recorder/internal/rt"
	"gprof/recorder/internal/shard"
)

// Sampler takes CPU samples by signals of its own, so that the host's profiles work beside
// it. Each thread has a timer on its CPU clock, whose signal's handler writes a record into
// the thread's ring; the keeper drains the rings.
//
// Only the keeper uses it, except for Open and Close.
type Sampler struct {
	host       Host
	taken      int // samples since the last call of Taken
	signal     int
	period     int64 // ns of CPU time
	tasks      *os.File
	threads    map[int]*threadState // by tid
	free       []int                // slots
	room       int                  // how many threads may be sampled
	leaf       leafTable
	drainEvery rt.Time // in periods of CPU time
	resting    bool
	drained    bool          // while resting: what is in the rings came later
	told       bool          // it has been logged that threads are left out
	left       map[int]int64 // threads that are left out, by tid: the CPU time of which lost samples are counted
	lookAt     rt.Time       // when to look for threads next
	due        rt.Time       // when to drain the rings next
	created    int           // the runtime's number of threads at the last look
	calls      []uintptr
	placed     placed
	early      *earlySampler              // whose samples are to be written
	unnamed    []earlySample              // that were written with pcs
	rows       map[[rowCalls]uintptr]bool // by outermost calls: whether the row is recorded
}

// threadState is a thread that is sampled.
type threadState struct {
	slot   int
	timer  int32
	stacks *chunks.Stacks
	idle   idleness
	alive  bool
	rest   int64 // ns of CPU time that blocks have too little
}

// The signals to try: real-time signals, from the last one down, because programs that use some
// begin with the first.
const (
	lastSignal  = 62
	firstSignal = 50
)

var (
	errTaken    = errors.New("the program uses it")
	errNotGo    = errors.New("not handled by Go, as in a library of a program in C, which may wait for it")
	errSelfTest = errors.New("self-test")
)

// Open finds out whether samples can be taken here, and prepares for hz samples per second
// of CPU time, with at most depth calls of a stack. The error says why it can't be done.
func (s *Sampler) Open(h Host, hz, depth int) (err error) {
	s.host = h
	s.holdEarly()
	if err := rt.Signals.Err(); err != nil {
		return err
	}
	if s.host.Recording.FaultErr() != nil { // the handler would not survive if its ring's file were cut short
		return s.host.Recording.FaultErr()
	}
	s.period = max(int64(time.Second)/int64(hz), kernelTick())
	sampleLayout, err = findLayout()
	switch {
	case errors.Is(err, errNoCode):
		return err
	case err != nil && sampleLayout.goid == 0:
		return fmt.Errorf("%w: goroutine's number: %w", errSelfTest, err)
	}
	if s.host.Recording.Clock().Counter.Load() {
		sampleLayout.counter = 1
	}
	sampleLayout.cpu = 1
	s.goDeep(depth)
	if s.signal, err = seizeAny(); err != nil {
		return err
	}
	s.threads, s.free = map[int]*threadState{}, nil
	for i := range maxSlots {
		s.free = append(s.free, maxSlots-1-i)
	}
	s.room = int(min(max(s.host.Limit/ringShare/rawformat.StacksFile, minThreads), maxSlots))
	s.leaf.open()
	if err := s.test(); err != nil {
		return fmt.Errorf("%w: %w", errSelfTest, err)
	}
	s.tasks, err = os.Open("/proc/self/task")
	return err
}

// goDeep sets how many calls of a stack the handler writes. With more calls a ring holds
// fewer samples, and must be drained sooner.
func (s *Sampler) goDeep(calls int) {
	most := calls + rawformat.StackExtra
	sampleLayout.depth, sampleLayout.room = uintptr(calls), uintptr(rawformat.StacksWords-most)
	s.drainEvery = rt.Time(min(mostDrained, rawformat.StacksWords/most))
}

// round is the longest time between two drains of the rings.
const round = 100 * time.Millisecond

// quietPatience is how long to wait for a signal handler to finish.
const quietPatience = 100 * time.Millisecond

const (
	ringShare  = 16 // the rings may have 1/ringShare of the limit
	minThreads = 4
)

// kernelTick is how often the kernel looks at CPU clocks, in ns: a timer can't be faster.
func kernelTick() int64 {
	var t unix.Timespec
	if unix.ClockGetres(unix.CLOCK_MONOTONIC_COARSE, &t) != nil {
		return int64(10 * time.Millisecond)
	}
	return t.Nano()
}

func seizeAny() (signal int, err error) {
	said := ""
	for signal := lastSignal; signal >= firstSignal; signal-- {
		next := seize(signal)
		switch {
		case next == nil:
			return signal, nil
		case err == nil:
			err = next
		case next.Error() != said: // as a rule all are refused for one reason
			err = fmt.Errorf("%w; %w", err, next)
		}
		said = next.Error()
	}
	return 0, fmt.Errorf("signals %d to %d: %w", lastSignal, firstSignal, err)
}

// Period is how much CPU time a sample stands for, in ns.
func (s *Sampler) Period() int64 { return s.period }

// Taken is how many samples were written since the last call.
func (s *Sampler) Taken() int {
	n := s.taken
	s.taken = 0
	return n
}

// Describe is the text for meta.
func (s *Sampler) Describe(asked int) string {
	text := fmt.Sprintf("signal %d", s.signal)
	if got := float64(time.Second) / float64(s.period); got < float64(asked)*0.99 {
		text += fmt.Sprintf(", asked %d Hz, tick gives %.0f", asked, got)
	} else {
		text += fmt.Sprintf(", %d Hz", asked)
	}
	l := &sampleLayout
	for _, t := range []struct {
		found bool
		what  string
	}{{l.goid != 0, "goroutines"}, {l.labels != 0, "tracks"}, {l.curg != 0 && l.sched != 0, "stacks behind the scheduler's"}, {s.leaf.known(), "callers of frameless functions"}, {l.slots != 0, "labels"}, {l.cpu != 0, "measured CPU time"}} {
		if !t.found {
			text += ", without " + t.what
		}
	}
	return text
}

// Round does the work that is due: it attaches to new threads, drains all rings, and
// releases threads that have ended.
func (s *Sampler) Round() {
	if s.tasks == nil {
		return
	}
	before := rt.Now()
	s.nameEarly()
	if s.attend(before) {
		s.inspect()
		forgetStays()
	}
	if before < s.due {
		return
	}
	every := min(rt.Time(round), s.patience())
	s.due = before - before%every + every
	for tid, t := range s.threads {
		t.idle.busy = s.drain(tid, t) > 0
		if !t.alive {
			s.release(tid, t)
		}
	}
	at := s.host.Recording.Clock().Now()
	for tid, t := range s.threads {
		s.look(tid, t, before, at)
	}
}

// Attend attaches to new threads. Their samples stay in their rings until Round drains them, which needs the modules.
func (s *Sampler) Attend() {
	if s.tasks != nil {
		s.attend(rt.Now())
	}
}

// attend reports whether it was time to look for threads.
func (s *Sampler) attend(now rt.Time) bool {
	s.wake()
	if !s.changed(now) {
		return false
	}
	s.scan()
	return true
}

// mostDrained is after how many periods of CPU time a ring is drained. Samples that are
// drained together take less room in chunks.
const mostDrained = 10

// patience is how long a ring may wait to be drained if its thread is busy.
func (s *Sampler) patience() rt.Time { return s.drainEvery * rt.Time(s.period) }

// LongestSleep is how long the keeper may sleep. It is less than a round only if the rings
// have no room for a round's deep stacks.
func (s *Sampler) LongestSleep() time.Duration {
	if s.tasks == nil || s.drainEvery == mostDrained {
		return round
	}
	return time.Duration(s.patience())
}

// lookEvery is how often all threads are looked for: threads of C code may come and go
// without the runtime's knowledge.
const lookEvery = rt.Time(500 * time.Millisecond)

// changed reports whether it is time to look for threads. The kernel's list costs as much
// as many samples, the runtime's number of threads next to nothing.
func (s *Sampler) changed(now rt.Time) bool {
	created, _ := runtime.ThreadCreateProfile(nil) // with nil it only returns the number
	if now < s.lookAt && created == s.created {
		return false
	}
	s.created, s.lookAt = created, now+lookEvery
	return true
}

// scan finds the threads of the process.
func (s *Sampler) scan() {
	for _, t := range s.threads {
		t.alive = false
	}
	if _, err := s.tasks.Seek(0, 0); err != nil {
		return
	}
	names, _ := s.tasks.Readdirnames(-1) // after an error the names read so far still count
	before := s.left
	s.left = nil
	for _, name := range names {
		tid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if t := s.threads[tid]; t != nil {
			t.alive = true
		} else if err := s.take(tid); err != nil && !errors.Is(err, unix.ESRCH) && !errors.Is(err, unix.EINVAL) {
			s.leaveOut(tid, before, err)
		}
	}
}

var errThreads = errors.New("too many threads for the limit")

// leaveOut counts the samples that a thread would have had since the last look, if it was left out then, and logs, once,
// that threads are.
func (s *Sampler) leaveOut(tid int, before map[int]int64, err error) {
	if !s.told {
		s.told = true
		s.host.Recording.Log(rawformat.LogWarn, fmt.Sprintf("CPU samples: a thread is left out: %v", err))
	}
	cpu := cpuOfThread(tid)
	if last, known := before[tid]; known && cpu > last {
		n := (cpu - last) / s.period
		s.host.Recording.Lose(rawformat.LostSamples, uint64(n), 0)
		cpu = last + n*s.period
	}
	if s.left == nil {
		s.left = map[int]int64{}
	}
	s.left[tid] = cpu
}

// take begins to sample a thread. A thread that has just ended is no error of ours.
func (s *Sampler) take(tid int) error {
	if len(s.threads) >= s.room || len(s.free) == 0 { // a slot whose handler did not finish is never freed
		return errThreads
	}
	t, err := s.attach(tid)
	if err != nil {
		return err
	}
	if !s.resting {
		err = setTimer(t.timer, s.period)
	}
	if err != nil {
		return errors.Join(err, s.detach(t))
	}
	s.threads[tid] = t
	return nil
}

// attach prepares a slot, ring and timer for a thread.
func (s *Sampler) attach(tid int) (*threadState, error) {
	n := len(s.free) - 1
	t := &threadState{slot: s.free[n], alive: true}
	slot := &sampleSlots[t.slot]
	generation := atomic.AddUint32(&slot.generation, 1)
	timer, err := newTimer(tid, s.signal, cookie(t.slot, generation))
	if err != nil {
		return nil, err
	}
	t.timer = timer
	t.stacks, err = chunks.CreateStacks(s.host.Files, rawformat.StacksHeader{Instance: s.host.Recording.Instance(), Pid: uint32(os.Getpid()), Tid: uint32(tid), Period: uint64(s.period), Clock: sampleClock()})
	if err != nil {
		deleteTimer(timer)
		return nil, err
	}
	s.host.charge(rawformat.StacksFile)
	t.stacks.CountFrom(cpuOfThread(tid))
	s.free = s.free[:n]
	atomic.StoreUintptr(&slot.ring, uintptr(unsafe.Pointer(&t.stacks.Memory()[0])))
	return t, nil
}

// sampleClock is the clock that the handler reads.
func sampleClock() rawformat.ClockKind {
	if sampleLayout.counter != 0 {
		return rawformat.ClockTSC
	}
	return rawformat.ClockMonotonic
}

// LeaveCounter has the handler read the monotonic clock, because the counter has jumped.
// All threads are released and attached again, because a ring has one clock.
func (s *Sampler) LeaveCounter() {
	if s.tasks == nil {
		return
	}
	for tid, t := range s.threads {
		s.release(tid, t)
	}
	sampleLayout.counter, s.lookAt = 0, 0
}

// errBusy means that a handler did not finish; its ring stays mapped.
var errBusy = errors.New("a signal handler is still at work")

// quiet stops the timer, and waits until no handler uses the ring.
func (s *Sampler) quiet(t *threadState) error {
	deleteTimer(t.timer)
	slot := &sampleSlots[t.slot]
	atomic.StoreUintptr(&slot.ring, 0)
	for deadline := rt.Now() + rt.Time(quietPatience); slot.busy.Load() != 0; runtime.Gosched() {
		if rt.Now() > deadline {
			return errBusy
		}
	}
	return nil
}

// detach undoes attach.
func (s *Sampler) detach(t *threadState) error {
	if err := s.quiet(t); err != nil {
		return err
	}
	s.free = append(s.free, t.slot)
	s.host.charge(-rawformat.StacksFile)
	return t.stacks.Close()
}

// release stops sampling a thread, and drains its ring.
func (s *Sampler) release(tid int, t *threadState) {
	delete(s.threads, tid)
	if err := s.quiet(t); err != nil {
		return
	}
	if s.drained {
		s.forget(t)
	} else {
		s.drainAll(tid, t)
	}
	s.host.Complain("stack ring", s.detach(t))
}

// inspect releases threads whose number another thread has by now, and checks that the
// signal is still ours.
func (s *Sampler) inspect() {
	if s.resting {
		return
	}
	if !seized(s.signal) {
		why := fmt.Sprintf("no CPU samples from now on: the program took signal %d", s.signal)
		s.host.Ended(why)
		s.host.Recording.Log(rawformat.LogWarn, why)
		s.Close()
		return
	}
	for _, t := range s.threads {
		t.alive = t.alive && armed(t.timer)
	}
}

// DropCut releases threads whose rings' files were cut short, so that they get others. It
// returns how many.
func (s *Sampler) DropCut() (found int) {
	for tid, t := range s.threads {
		if t.stacks.IsCut() {
			found++
			s.host.Recording.Lose(rawformat.LostCut, 1, 0)
			s.release(tid, t)
			s.lookAt = 0
		}
	}
	return found
}

// wake starts the timers after rest.
func (s *Sampler) wake() { s.turn(false, s.period) }

// Rest stops the timers while recording is paused. As soon as the dictionary has the modules it
// drains the rings, before chunks are given back.
func (s *Sampler) Rest(mapped bool) {
	if s.tasks == nil {
		return
	}
	s.turn(true, 0)
	if !mapped || s.drained {
		return
	}
	s.drained = true
	for tid, t := range s.threads {
		s.drainAll(tid, t)
	}
}

func (s *Sampler) turn(resting bool, period int64) {
	if s.resting == resting {
		return
	}
	s.resting, s.left = resting, nil
	for tid, t := range s.threads {
		if s.drained {
			s.forget(t)
		}
		if !resting { // no sample stands for what was used meanwhile
			t.stacks.CountFrom(cpuOfThread(tid))
			t.idle.cpu = 0 // nobody has seen whether it was idle
		}
		t.alive = setTimer(t.timer, period) == nil
	}
	s.drained = false
}

// Close releases all threads. Samples from before Start that were not written are left to the
// next Start. The handler stays installed: a signal that is still on its
// way finds nothing to do.
func (s *Sampler) Close() {
	s.restoreEarly()
	if s.tasks == nil {
		return
	}
	s.nameEarly()
	for tid, t := range s.threads {
		s.release(tid, t)
	}
	s.tasks.Close() // nothing was written
	s.tasks = nil
}

// test has this thread sampled once, in a known place, by a signal that looks like its
// timer's, and checks the sample.
func (s *Sampler) test() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	tid := unix.Gettid()
	t, err := s.attach(tid)
	if err != nil {
		return err
	}
	slot := &sampleSlots[t.slot]
	cpu, before := cpuOfThread(tid), s.host.Recording.Clock().Now()
	t.stacks.CountFrom(cpu)
	labelled, err := testOuter(s.host.Recording, tid, s.signal, cookie(t.slot, slot.generation))
	if err != nil {
		return errors.Join(err, s.detach(t))
	}
	after, used := s.host.Recording.Clock().Now(), cpuOfThread(tid)-cpu
	var rec rawformat.StackRecord
	ok, err := t.stacks.Next(&rec)
	if err == nil && !ok {
		err = errors.New("no signal came")
	}
	if err == nil {
		err = s.check(&rec, before, after, labelled)
		if rec.CPU == 0 || int64(rec.CPU-1) > used {
			sampleLayout.cpu = 0
		}
	}
	return errors.Join(err, s.detach(t))
}

// check compares a record with what is known about the place where it was taken, in a label if there was room for one.
func (s *Sampler) check(rec *rawformat.StackRecord, before, after rt.Tick, labelled bool) error {
	if at := rt.Tick(rec.Time); at < before || at > after {
		return fmt.Errorf("time %d, want %d to %d", at, before, after)
	}
	if id := rt.GoroutineNumber(); rec.Goroutine != id {
		return fmt.Errorf("goroutine %d, want %d", rec.Goroutine, id)
	}
	if labels := uint64(uintptr(rt.ProfLabel())); sampleLayout.labels != 0 && rec.Labels != labels {
		return fmt.Errorf("labels at %x, want %x", rec.Labels, labels)
	}
	var names []string
	for _, l := range places(s.key(rec)) {
		for _, f := range slices.Backward(l.Functions) {
			names = append(names, f.Name[strings.LastIndexByte(f.Name, '.')+1:])
		}
	}
	if labelled && !labelInPlace(rec) {
		sampleLayout.slots = 0
		labelsFail.Store(true)
	}
	text := strings.Join(names, " ")
	if !strings.Contains(text, " fakeTimer testInner testOuter test Open ") || !strings.HasSuffix(text, " goexit") && !strings.HasSuffix(text, " main") {
		return fmt.Errorf("frame pointers give the stack %s", text)
	}
	return nil
}

// testOuter begins a label, under which testInner runs, unless goroutines in labels leave no room for one.
//
//go:noinline
func testOuter(r *shard.Recording, tid, signal int, value uint64) (labelled bool, err error) {
	scope := testBegin(r)
	err = testInner(tid, signal, value)
	scope.End()
	return scope.slot != nil, err
}

// testBegin stands for the method by which a program begins a label.
//
//go:noinline
func testBegin(r *shard.Recording) Scope { return Begin(r, testLabel) }

// testLabel is not the number of any label.
const testLabel = 1<<32 - 1

// labelInPlace reports whether the label of the self-test lies between testInner and
// testOuter.
func labelInPlace(rec *rawformat.StackRecord) bool {
	i := slices.Index(rec.Returns, rawformat.StackLabel|testLabel)
	if i < 1 || i+1 >= len(rec.Returns) {
		return false
	}
	in := func(pc uint64, function string) bool {
		f := runtime.FuncForPC(uintptr(pc) - 1)
		return f != nil && strings.HasSuffix(f.Name(), function)
	}
	return in(rec.Returns[i-1], ".testInner") && in(rec.Returns[i+1], ".testOuter")
}

//go:noinline
func testInner(tid, signal int, value uint64) error {
	err := fakeTimer(tid, signal, value)
	runtime.KeepAlive(&err)
	return err
}
