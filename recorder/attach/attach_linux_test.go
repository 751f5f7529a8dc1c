package attach_test

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gprof/ingest"
	"gprof/recorder/attach"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// TestMain lets the test binary be what is sampled: it does what it is told to, line
// by line, and says so when it has.
func TestMain(m *testing.M) {
	if os.Getenv("ATTACH_TEST") == "" {
		os.Exit(m.Run())
	}
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
		}
		os.Stdout.WriteString("done\n")
	}
}

const (
	burnTime = 300 * time.Millisecond
	rests    = 50
)

var sink int

// burn takes so much CPU time of its thread.
//
//go:noinline
func burn(d time.Duration) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for begun := threadTime(); threadTime()-begun < d; {
		for i := range 100_000 {
			sink += i
		}
	}
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
	w.Env = append(os.Environ(), "ATTACH_TEST=1")
	var err error
	if w.in, err = w.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := w.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	w.out = bufio.NewScanner(out)
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.end)
	return w
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
	waited           time.Duration
	kernel           int // stacks of waits that are the kernel's at their end
	byProcess        map[int]int
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
	if cpu := time.Duration(got.burning) * time.Millisecond; cpu < burnTime*8/10 || cpu > burnTime*13/10 {
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
