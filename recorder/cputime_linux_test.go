//go:build (amd64 || arm64) && !gprof_portable && !go1.28

package recorder_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"gprof/chunks"
	"gprof/rawformat"
	"gprof/recorder"
)

var _ = func() bool {
	children["measured"] = measuredChild
	return true
}()

// ownTime is the CPU time of the calling thread.
func ownTime() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_THREAD, &u) // does not fail
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// useOwn has the calling thread use so much CPU time.
func useOwn(d time.Duration) {
	var sum [32]byte
	for until := ownTime() + d; ownTime() < until; {
		for range 20 {
			sum = sha256.Sum256(sum[:])
		}
	}
	runtime.KeepAlive(sum)
}

// measured is a thread of its own, which works when it is told to, and says how much CPU time it has used.
type measured struct {
	tid  int
	work chan func()
	used chan time.Duration
}

func newMeasured() *measured {
	m, tid := &measured{work: make(chan func()), used: make(chan time.Duration)}, make(chan int)
	go func() {
		runtime.LockOSThread() // it ends with the goroutine
		tid <- syscall.Gettid()
		for work := range m.work {
			work()
			m.used <- ownTime()
		}
		close(m.used)
	}()
	m.tid = <-tid
	return m
}

// do returns the thread's CPU time after some work.
func (m *measured) do(work func()) time.Duration {
	m.work <- work
	return <-m.used
}

func (m *measured) end() {
	close(m.work)
	<-m.used
}

// isSampled reports whether a recording has a ring of the thread.
func (m *measured) isSampled(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, chunks.StacksFile.FileName(uint32(m.tid))))
	return err == nil
}

// halfIdle works and waits in turn.
func halfIdle() {
	for range 60 {
		useOwn(4 * time.Millisecond)
		time.Sleep(2 * time.Millisecond) // it is to be off the processor
	}
}

// measuredTimes is the CPU time of samples by thread, and how many are not of whole periods.
func (r *recording) measuredTimes(t *testing.T) (cpu map[int]time.Duration, uneven int) {
	cpu = map[int]time.Duration{}
	period, _ := strconv.ParseUint(r.meta(rawformat.MetaInterval), 10, 64)
	for _, s := range r.signalSamples(t) {
		cpu[int(s.thread)] += time.Duration(s.cpu) - 1
		if s.weight > 0 && (s.cpu-1)%period != 0 {
			uneven++
		}
	}
	return cpu, uneven
}

// unsampled is the most CPU time behind a thread's last sample: a period, and a tick of the kernel, at which timers expire.
const unsampled = 20 * time.Millisecond

// uncounted is the most CPU time that samples have from before the test read the clock.
const uncounted = 5 * time.Millisecond

// checkMeasured compares the CPU time of a thread's samples with what the system says.
func checkMeasured(t *testing.T, what string, samples, used time.Duration) {
	t.Helper()
	t.Logf("%s: samples of %v, the system says %v", what, samples, used)
	if samples > used+uncounted || samples < used-unsampled {
		t.Errorf("%s: samples of %v, want %v less at most %v", what, samples, used, unsampled)
	}
}

// The CPU time of the samples of a thread is what the system says that the thread has used, be it busy or idle half of the
// time. Before sampling begins, and while it pauses, nothing is counted.
func TestCPUTimeIsMeasured(t *testing.T) {
	busy, half := newMeasured(), newMeasured()
	busy.do(func() { useOwn(100 * time.Millisecond) })
	rec := begin(t, recorder.Options{})
	await(t, "rings of both threads", func() bool { return busy.isSampled(rec.Dir()) && half.isSampled(rec.Dir()) })
	busyFrom, halfFrom := busy.do(ownTimeOnly), half.do(ownTimeOnly)
	halfDone := make(chan time.Duration)
	go func() { halfDone <- half.do(halfIdle) }()
	busyTo := busy.do(func() { useOwn(400 * time.Millisecond) })
	halfTo := <-halfDone
	rec.PauseSampling()
	awaitRound(t, rec)
	paused := busy.do(func() { useOwn(300 * time.Millisecond) })
	rec.ResumeSampling()
	awaitRound(t, rec)
	again := busy.do(func() { useOwn(200 * time.Millisecond) })
	busy.end()
	half.end()
	cpu, uneven := finish(t, rec).measuredTimes(t)
	samples := cpu[busy.tid]
	t.Logf("busy: samples of %v, the system says %v and %v", samples, busyTo-busyFrom, again-paused)
	if want := busyTo - busyFrom + again - paused; samples > want+uncounted || samples < want-2*unsampled {
		t.Errorf("busy: samples of %v, want %v less at most %v", samples, want, 2*unsampled)
	}
	checkMeasured(t, "half idle", cpu[half.tid], halfTo-halfFrom)
	if uneven < 20 {
		t.Errorf("%d samples have more or less than whole periods", uneven)
	}
}

func ownTimeOnly() {}

// measuredChild prints where it records, its thread, the CPU time before and after some work, and waits to be killed.
func measuredChild() {
	rec, err := recorder.Start(recorder.Options{Dir: os.Args[1]})
	if err != nil {
		panic(err)
	}
	m := newMeasured()
	for !m.isSampled(rec.Dir()) {
		time.Sleep(time.Millisecond)
	}
	from := m.do(ownTimeOnly)
	to := m.do(func() { useOwn(130 * time.Millisecond) })
	fmt.Println(rec.Dir(), m.tid, int64(from), int64(to))
	select {}
}

// A process that is killed has the CPU time of all its samples, also of those in the rings.
func TestCPUTimeSurvivesKill(t *testing.T) {
	cmd := child("measured", []string{t.TempDir()})
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var dir string
	var tid int
	var from, to time.Duration
	_, err := fmt.Fscan(out, &dir, &tid, &from, &to)
	cmd.Process.Kill()
	cmd.Wait()
	if err != nil {
		t.Fatal(err)
	}
	r := read(t, dir, chunks.Unproven, chunks.Stale)
	cpu, uneven := r.measuredTimes(t)
	checkMeasured(t, fmt.Sprintf("%d samples of rings", r.kinds[rawformat.KindSample]), cpu[tid], to-from)
	if uneven == 0 {
		t.Error("all samples have whole periods")
	}
}
