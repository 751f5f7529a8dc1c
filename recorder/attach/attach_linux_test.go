package attach_test

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gprof/chunks"
	"gprof/ingest"
	"gprof/rawformat"
	"gprof/recorder/attach"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// TestMain lets the test binary be what is sampled: it does what it is told to, line
// by line, and says so when it has.
func TestMain(m *testing.M) {
	switch os.Getenv("ATTACH_TEST") {
	case "":
		os.Exit(m.Run())
	case "sampler":
		sampleOther()
	}
	var kept worker // a child
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		switch in.Text() {
		case "burn":
			burn(burnTime)
		case "rest":
			for range rests {
				time.Sleep(time.Millisecond)
			}
		case "bear":
			cmd := exec.Command(os.Args[0])
			cmd.Env, cmd.Stdin = os.Environ(), strings.NewReader("burn\n")
			cmd.Run()
		case "keep":
			kept = worker{Cmd: exec.Command(os.Args[0])}
			if err := kept.begin(); err != nil {
				os.Exit(4)
			}
		case "burn there":
			io.WriteString(kept.in, "burn\n")
			kept.out.Scan()
		}
		os.Stdout.WriteString("done\n")
	}
}

// sampleOther samples the process that arguments tell, until it is killed.
func sampleOther() {
	pid, _ := strconv.Atoi(os.Args[1])
	if _, err := attach.Start([]int{pid}, attach.Options{Session: os.Args[2]}); err != nil {
		os.Exit(3) // refused
	}
	os.Stdout.WriteString("ready\n")
}

const (
	burnTime = 200 * time.Millisecond
	rests    = 50
)

var sink int

// burn takes so much CPU time of its thread.
//
//go:noinline
func burn(d time.Duration) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	sum := 0
	for begun := threadTime(); threadTime()-begun < d; {
		for i := range 100_000 { // of no memory: the race detector looks at that without a frame
			sum += i * sum
		}
	}
	sink = sum
}

func threadTime() time.Duration {
	var t unix.Timespec
	unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t)
	return time.Duration(t.Nano())
}

// worker is a process that does as it is told.
type worker struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func newWorker(t *testing.T) *worker {
	t.Helper()
	w := &worker{Cmd: exec.Command(os.Args[0])}
	w.Env = append(os.Environ(), "ATTACH_TEST=worker")
	w.run(t)
	return w
}

// run starts it, until the test ends.
func (w *worker) run(t *testing.T) {
	t.Helper()
	if err := w.begin(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.end)
}

func (w *worker) begin() (err error) {
	if w.in, err = w.StdinPipe(); err != nil {
		return err
	}
	out, err := w.StdoutPipe()
	if err != nil {
		return err
	}
	w.out = bufio.NewScanner(out)
	return w.Start()
}

// do has it do something, and waits until it has.
func (w *worker) do(t *testing.T, what string) {
	t.Helper()
	if _, err := io.WriteString(w.in, what+"\n"); err != nil || !w.out.Scan() {
		t.Fatalf("%s: %v %v", what, err, w.out.Err())
	}
}

func (w *worker) end() {
	w.in.Close()
	w.Wait() // again is no harm
}

// start samples processes. Where the kernel refuses, as it may in a container, all there
// is to test is whether it is said what would allow it; nil, then.
func start(t *testing.T, o attach.Options, pids ...int) *attach.Sampler {
	t.Helper()
	s, err := attach.Start(pids, o)
	var r *attach.Refusal
	if errors.As(err, &r) {
		if r.Why == "" || len(r.Hints) == 0 {
			t.Errorf("%v: it is not said what would allow it", err)
		}
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop() })
	return s
}

// seen is what a recording holds.
type seen struct {
	stream.Count
	samples, burning int
	cpu              time.Duration
	waits            int
	waited, longest  time.Duration
	kernel           int         // stacks of waits that are the kernel's at their end
	byProcess        map[int]int // samples by pid
	processes        []stream.Process
}

func (s *seen) Segment(b *stream.Batch) error {
	p := s.Tables.Process(b.Series.Process)
	for i := range b.Len() {
		switch b.Series.Kind {
		case stream.Samples:
			s.samples++
			s.byProcess[p.Pid]++
			s.cpu += time.Duration(b.CPU[i])
			if s.has(b.Stack[i], "attach_test.burn") {
				s.burning++
			}
		case stream.Waits:
			s.waits++
			s.waited += time.Duration(b.Value[i])
			s.longest = max(s.longest, time.Duration(b.Value[i]))
			if s.has(b.Stack[i], "schedule") {
				s.kernel++
			}
		}
	}
	return nil
}

// has reports whether a function is in a stack.
func (s *seen) has(stack stream.StackID, function string) bool {
	for stack != 0 {
		var frame stream.FrameID
		stack, frame = s.Tables.Stacks.At(stack)
		if strings.HasSuffix(s.Tables.Strings.At(s.Tables.Frames.At(frame).Function), function) {
			return true
		}
	}
	return false
}

// look reads a session.
func look(t *testing.T, session string) *seen {
	t.Helper()
	src, found, err := ingest.Open([]string{session}, ingest.Options{Symbols: []string{os.Args[0]}})
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	s := &seen{byProcess: map[int]int{}}
	if err := stream.Copy(streamtest.Validate(s), src, stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	s.processes = src.Tables().Processes
	return s
}

func TestSamples(t *testing.T) {
	session := filepath.Join(t.TempDir(), "s")
	w := newWorker(t)
	s := start(t, attach.Options{Session: session}, w.Process.Pid)
	if s == nil {
		return
	}
	w.do(t, "burn")
	w.do(t, "rest")
	w.end()
	<-s.Done()
	sum, err := s.Stop()
	if err != nil || len(sum.Dirs) != 1 || sum.Lost > 0 {
		t.Fatalf("%+v, %v", sum, err)
	}
	got := look(t, session)
	if got.samples != sum.Samples || got.waits != sum.Waits {
		t.Errorf("%d samples and %d waits of %+v", got.samples, got.waits, sum)
	}
	// The clock's interrupt is late where the machine gives our processor to others.
	if cpu := time.Duration(got.burning) * time.Millisecond; cpu < burnTime/4 || cpu > burnTime*12/10 {
		t.Errorf("%v of %v in burn", cpu, burnTime)
	}
	if got.cpu != time.Duration(got.samples)*time.Millisecond {
		t.Errorf("%v of CPU time in %d samples", got.cpu, got.samples)
	}
	if got.waits < rests || got.waited < rests*time.Millisecond {
		t.Errorf("%d waits of %v, want %d of 1 ms and more", got.waits, got.waited, rests)
	}
	if len(s.Notes()) == 0 && got.kernel < rests {
		t.Errorf("%d waits are in the kernel's scheduler", got.kernel)
	}
}

// A child is a process of its own, also of a process that ran before.
func TestChildren(t *testing.T) {
	session := filepath.Join(t.TempDir(), "s")
	w := newWorker(t)
	s := start(t, attach.Options{Session: session, Hz: 200, NoOffCPU: true}, w.Process.Pid)
	if s == nil {
		return
	}
	w.do(t, "burn")
	w.do(t, "bear")
	w.end()
	<-s.Done()
	if _, err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	got := look(t, session)
	own, all := got.byProcess[w.Process.Pid], got.samples
	if some := int(burnTime * 200 / time.Second / 4); own <= some || all-own <= some {
		t.Errorf("%d samples of the parent, %d of the child", own, all-own)
	}
	if got.waits != 0 {
		t.Errorf("%d waits nobody asked for", got.waits)
	}
	parents := map[stream.ProcessID]bool{}
	for _, p := range got.processes {
		parents[p.Parent] = true
		if !p.Exit.Known || p.Exit.Reason != "stopped" {
			t.Errorf("pid %d: %+v", p.Pid, p.Exit)
		}
	}
	if len(got.processes) < 2 || len(parents) < 2 {
		t.Errorf("%d processes, of %d parents", len(got.processes), len(parents))
	}
}

// A child that was there before is sampled, and each once, where that is asked for.
func TestTree(t *testing.T) {
	session := filepath.Join(t.TempDir(), "s")
	w := newWorker(t)
	w.do(t, "keep")
	s := start(t, attach.Options{Session: session, Tree: true, NoOffCPU: true}, w.Process.Pid, w.Process.Pid)
	if s == nil {
		return
	}
	w.do(t, "burn there")
	w.do(t, "burn")
	if _, err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	got := look(t, session)
	own := got.byProcess[w.Process.Pid]
	for who, n := range map[string]int{"the process": own, "its child": got.samples - own} {
		if cpu := time.Duration(n) * time.Millisecond; cpu < burnTime/4 || cpu > burnTime*3/2 {
			t.Errorf("%v of %v of %s", cpu, burnTime, who)
		}
	}
	if len(got.processes) != 2 || got.processes[0].Parent+got.processes[1].Parent == 0 {
		t.Errorf("%d processes, of which none is the child of the other", len(got.processes))
	}
}

// Who is sampled runs on when the sampling ends, and children that are not asked for are
// left alone.
func TestStop(t *testing.T) {
	session := filepath.Join(t.TempDir(), "s")
	w := newWorker(t)
	s := start(t, attach.Options{Session: session, NoChildren: true}, w.Process.Pid)
	if s == nil {
		return
	}
	w.do(t, "burn")
	w.do(t, "bear")
	sum, err := s.Stop()
	if err != nil || len(sum.Dirs) != 1 {
		t.Fatalf("%+v, %v", sum, err)
	}
	if again, err := s.Stop(); err != nil || again.Samples != sum.Samples {
		t.Errorf("stopped again: %+v, %v", again, err)
	}
	before := look(t, session)
	w.do(t, "burn")
	if got := look(t, session); got.samples != before.samples || got.samples != sum.Samples {
		t.Errorf("%d samples, %d when it was stopped, of %d", got.samples, before.samples, sum.Samples)
	}
}

// What was recorded outlives the sampler, however it ends.
func TestKilledSampler(t *testing.T) {
	session := filepath.Join(t.TempDir(), "s")
	w := newWorker(t)
	sampler := &worker{Cmd: exec.Command(os.Args[0], strconv.Itoa(w.Process.Pid), session)}
	sampler.Env = append(os.Environ(), "ATTACH_TEST=sampler")
	if sampler.run(t); !sampler.out.Scan() {
		start(t, attach.Options{Session: session}, w.Process.Pid) // it says why not
		return
	}
	w.do(t, "burn")
	recorded := 0
	for deadline := time.Now().Add(time.Minute); recorded == 0 && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if dirs, _ := filepath.Glob(filepath.Join(session, "*", "meta")); len(dirs) > 0 {
			recorded = look(t, session).samples // as it runs
		}
	}
	sampler.Process.Kill()
	sampler.Wait()
	if got := look(t, session); got.samples < recorded || recorded == 0 {
		t.Errorf("%d samples, there were %d before the sampler was killed", got.samples, recorded)
	}
	w.do(t, "burn") // the process does not notice
}

// The sampler does what its session is told.
func TestObeys(t *testing.T) {
	session := filepath.Join(t.TempDir(), "s")
	w := newWorker(t)
	s := start(t, attach.Options{Session: session}, w.Process.Pid)
	if s == nil {
		return
	}
	w.do(t, "burn")
	control, err := chunks.OpenControl(session, chunks.ControlOptions{Existing: true})
	if err != nil {
		t.Fatal(err)
	}
	defer control.Close()
	tell := func(what rawformat.Command) {
		t.Helper()
		generation, err := control.Command(what)
		if err != nil {
			t.Fatal(err)
		}
		for { // the test's own time limit ends it
			slots, err := control.Slots()
			if err != nil {
				t.Fatal(err)
			}
			if len(slots) == 1 && slots[0].Obeyed >= generation {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	tell(rawformat.CommandPause)
	before := look(t, session)
	w.do(t, "burn")
	if got := look(t, session); got.samples != before.samples || got.samples == 0 {
		t.Errorf("%d samples, %d before the pause", got.samples, before.samples)
	}
	tell(rawformat.CommandResume)
	w.do(t, "burn")
	if _, err := control.Command(rawformat.CommandStop); err != nil {
		t.Fatal(err)
	}
	<-s.Done()
	if got := look(t, session); got.samples <= before.samples {
		t.Errorf("%d samples, %d before the pause", got.samples, before.samples)
	}
}

// A thread that waits when the sampling ends has waited until then.
func TestOpenWaits(t *testing.T) {
	session := filepath.Join(t.TempDir(), "s")
	w := newWorker(t)
	begun := time.Now()
	s := start(t, attach.Options{Session: session}, w.Process.Pid)
	if s == nil {
		return
	}
	w.do(t, "rest") // what waits in the meantime, waits for no longer than this takes
	before := time.Since(begun)
	time.Sleep(2 * before)
	sum, err := s.Stop()
	if err != nil {
		t.Fatal(err)
	}
	got := look(t, session)
	if got.longest < before*3/2 || got.waits != sum.Waits {
		t.Errorf("the longest of %d waits is %v, want %v or more, and %d", got.waits, got.longest, before*3/2, sum.Waits)
	}
}

func TestNobody(t *testing.T) {
	w := newWorker(t)
	w.end()
	session := filepath.Join(t.TempDir(), "s")
	if _, err := attach.Start([]int{w.Process.Pid}, attach.Options{Session: session}); !errors.Is(err, attach.ErrEnded) {
		t.Errorf("of a process that has ended: %v", err)
	}
	if _, err := os.Stat(session); err == nil {
		t.Error("a session is left behind")
	}
	if _, err := attach.Start([]int{os.Getpid()}, attach.Options{Session: session, Hz: attach.MaxHz + 1}); !errors.Is(err, attach.ErrRate) {
		t.Errorf("too often: %v", err)
	}
}
