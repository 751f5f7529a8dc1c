//go:build (amd64 || arm64) && !gprof_portable && !go1.28

package recorder_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	httppprof "net/http/pprof"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"gprof/chunks"
	"gprof/rawformat"
	"gprof/recorder"
)

// These children need the sampler.
var _ = func() bool {
	children["stress"], children["taken"], children["late"], children["sampled"] = stressChild, takenChild, lateChild, sampledChild
	return true
}()

// signalSample is a sample by a signal.
type signalSample struct {
	time, thread, goroutine uint64
	sample
	names []string // leaf first
}

// signalSamples returns the samples of a recording, with their stacks. Samples of weight 0 say
// that a thread is idle.
func (r *recording) signalSamples(t *testing.T) (found []signalSample) {
	t.Helper()
	dict := r.stackDict(t)
	var state threadState
	for blocks := r.Blocks(func(chunks.Problem) {}); blocks.Next(); {
		s, ok := state.next(blocks.Block())
		if !ok {
			continue
		}
		if s.stack > 1 {
			s.names = dict.names(t, markerStack{id: s.stack - 1})
		}
		found = append(found, s)
	}
	return found
}

// threadState is the state that busy and idle blocks are encoded against.
type threadState struct {
	now, thread, track, period, goroutine uint64
	chunk                                 *chunks.Image
	last                                  map[uint64]signalSample // in this chunk, by thread
}

// next returns the sample of a block, if it is one.
func (st *threadState) next(b chunks.Block) (s signalSample, ok bool) {
	c := b.Fields
	if b.Kind == rawformat.KindSync {
		c.Uint("index")
		c.Uint("epoch")
		*st = threadState{now: c.Uint("time"), chunk: st.chunk, last: st.last}
		if b.Chunk != st.chunk {
			st.chunk, st.last = b.Chunk, map[uint64]signalSample{}
		}
		return s, false
	}
	if b.Kind == rawformat.KindSampling {
		st.track = c.Uint("track")
		if period := c.Uint("period"); period != 0 {
			st.period = period
		}
		return s, false
	}
	for _, f := range rawformat.Kinds[b.Kind].Fields {
		if b.Kind == rawformat.KindIdle {
			break
		}
		if unit := f.Type.TimeUnit(); unit != 0 {
			st.now += uint64(c.Sint(f.Name)) * unit
			break
		}
		c.Uint(f.Name)
	}
	at := st.now
	switch b.Kind {
	case rawformat.KindSample:
		s = signalSample{thread: c.Uint("thread"), goroutine: c.Uint("goroutine")}
		s.sample = sample{c.Uint("track"), c.Uint("stack"), c.Uint("weight"), c.Uint("cpu"), c.Uint("window")}
	case rawformat.KindBusy, rawformat.KindBusyFor:
		st.thread += uint64(c.Sint("thread"))
		st.goroutine += uint64(c.Sint("goroutine"))
		s = signalSample{thread: st.thread, goroutine: st.goroutine, sample: sample{st.track, c.Uint("stack"), 1, st.period + 1, 0}}
		if b.Kind == rawformat.KindBusyFor {
			s.cpu = rawformat.BusyTime(st.period, c.Sint("excess")) + 1
		}
	case rawformat.KindIdle:
		if s, ok = st.last[st.thread+uint64(c.Sint("thread"))]; !ok {
			return s, false
		}
		s.weight, s.cpu = 0, 1
		at = s.time + c.Uint("after")*rawformat.SampleUnit
	default:
		return s, false
	}
	s.time = at
	st.last[s.thread] = s
	return s, true
}

func (s *signalSample) in(function string) bool {
	for _, name := range s.names {
		if strings.HasSuffix(name, function) {
			return true
		}
	}
	return false
}

// cpuTime is the CPU time of the process.
func cpuTime() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u) // does not fail
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// burnCPU burns until the process has used so much CPU time, however busy the machine is.
//
//go:noinline
func burnCPU(d time.Duration) (sum [32]byte) {
	for until := cpuTime() + d; cpuTime() < until; {
		for range 200 {
			sum = sha256.Sum256(sum[:])
		}
	}
	return sum
}

//go:noinline
func burnOther(d time.Duration) (sum uint32) {
	var block [4096]byte
	for until := cpuTime() + d; cpuTime() < until; {
		for range 100 {
			sum ^= crc32.ChecksumIEEE(block[:])
		}
	}
	return sum
}

// Samples say which code used the CPU, in which goroutine, and on which track.
func TestSignalSamples(t *testing.T) {
	rec := begin(t, recorder.Options{})
	before := cpuTime()
	_, work := recorder.NewTrack(context.Background(), "signalled")
	id := goroutineNumber()
	burnCPU(800 * time.Millisecond)
	work.End()
	used := cpuTime() - before
	r := finish(t, rec)
	if r.meta(rawformat.MetaCPU) != "signal" || r.meta(rawformat.MetaInterval) != "10000000" || !strings.HasPrefix(r.meta("self-test.cpu"), "signal ") {
		t.Fatalf("cpu %q, interval %q, self-test %q", r.meta(rawformat.MetaCPU), r.meta(rawformat.MetaInterval), r.meta("self-test.cpu"))
	}
	if strings.Contains(r.meta("self-test.cpu"), "without") {
		t.Errorf("self-test: %s", r.meta("self-test.cpu"))
	}
	var cpu, burning, mine, onTrack uint64
	for _, s := range r.signalSamples(t) {
		if s.thread == 0 || s.window != 0 || s.stack == 0 {
			t.Errorf("sample %+v", s)
		}
		cpu += s.cpu - 1
		if !s.in(".burnCPU") {
			continue
		}
		burning += s.weight
		if !s.in(".TestSignalSamples") || !s.in("testing.tRunner") {
			t.Errorf("stack %v", s.names)
		}
		if s.goroutine == id {
			mine += s.weight
		}
		if s.track != 0 {
			onTrack += s.weight
		}
	}
	t.Logf("%v of CPU, samples of %v; %d in burnCPU, %d of its goroutine, %d on its track", used, time.Duration(cpu), burning, mine, onTrack)
	if mine != burning || onTrack != burning || burning < 20 {
		t.Errorf("%d samples in burnCPU, %d of its goroutine, %d on its track", burning, mine, onTrack)
	}
	if cpu > uint64(used)*3/2 || !raceEnabled && cpu < uint64(used)/2 {
		t.Errorf("samples of %v, want %v", time.Duration(cpu), used)
	}
}

// On a track the program may use labels of its own. Goroutines started there inherit the labels,
// but are not on the track unless they call NewTrack.
func TestSamplesOfLabelled(t *testing.T) {
	rec := begin(t, recorder.Options{})
	ctx, work := recorder.NewTrack(context.Background(), "labelled")
	pprof.Do(ctx, pprof.Labels("request", "17"), func(context.Context) { burnCPU(300 * time.Millisecond) })
	done := make(chan bool)
	go func() {
		burn(300)
		_, own := recorder.NewTrack(ctx, "labelled")
		burnOther(300 * time.Millisecond)
		own.End()
		close(done)
	}()
	<-done
	work.End()
	pprof.Do(context.Background(), pprof.Labels("request", "18"), func(context.Context) { burn(300) })
	on, off, wrong := 0, 0, 0
	for _, s := range finish(t, rec).signalSamples(t) {
		switch within := s.in(".burnCPU") || s.in(".burnOther"); {
		case within && s.track != 0:
			on++
		case within || s.in(".burn") && s.track != 0:
			wrong++
		case s.in(".burn"):
			off++
		}
	}
	if wrong > 0 || on < 10 || off == 0 {
		t.Errorf("%d samples on the track, %d off it, %d otherwise than they should be", on, off, wrong)
	}
}

// If `go tool pprof` profiles the program over HTTP at the same time, both find the same stacks.
func TestSamplesBesideHTTPProfile(t *testing.T) {
	rec := begin(t, recorder.Options{})
	server := httptest.NewServer(http.HandlerFunc(httppprof.Profile))
	defer server.Close()
	var stop atomic.Bool
	var working sync.WaitGroup
	working.Go(func() {
		for !stop.Load() {
			burnCPU(60 * time.Millisecond)
			burnOther(30 * time.Millisecond)
		}
	})
	var their, our [2]int64
	for deadline := time.Now().Add(time.Minute); their[0]+their[1] < 100 && time.Now().Before(deadline); {
		for stack, weight := range fetchStacks(t, server.URL) { // there are few on a busy machine
			tally(&their, stack, weight)
		}
	}
	stop.Store(true)
	working.Wait()
	r := finish(t, rec)
	for _, s := range r.signalSamples(t) {
		tally(&our, strings.Join(s.names, " ")+" ", int64(s.weight))
	}
	share := func(n [2]int64) float64 { return float64(n[0]) / float64(max(1, n[0]+n[1])) }
	t.Logf("go tool pprof: %d and %d samples, share %.3f; ours: %d and %d, share %.3f", their[0], their[1], share(their), our[0], our[1], share(our))
	apart := 0.25 // for some hundred samples
	if raceEnabled {
		apart = 0.5 // the race detector is C code, whose callers runtime/pprof does not see
	}
	if d := share(their) - share(our); d < -apart || d > apart || our[0]+our[1] < 20 {
		t.Errorf("go tool pprof: %v, ours: %v", their, our)
	}
}

// fetchStacks has `go tool pprof` profile a program for a second, and returns the samples of each
// stack. A key is the names of the functions, with a space behind each.
func fetchStacks(t *testing.T, url string) map[string]int64 {
	t.Helper()
	fetch := exec.Command("go", "tool", "pprof", "-symbolize=none", "-traces", "-sample_index=samples", "-seconds=1", url)
	fetch.Env = append(os.Environ(), "PPROF_TMPDIR="+t.TempDir())
	out, err := fetch.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	stacks := map[string]int64{}
	_, text, _ := strings.Cut(string(out), "-----------+")
	for block := range strings.SplitSeq(text, "-----------+") {
		var weight int64
		stack := ""
		for line := range strings.Lines(strings.TrimLeft(block, "-")) {
			words := strings.Fields(line)
			n := len(words)
			if n == 0 || strings.HasSuffix(words[0], ":") {
				continue // this is a label
			}
			if n == 2 {
				weight, _ = strconv.ParseInt(words[0], 10, 64) // 0 if it is no number
			}
			stack += words[n-1] + " "
		}
		stacks[stack] += weight
	}
	return stacks
}

func tally(n *[2]int64, stack string, weight int64) {
	switch {
	case strings.Contains(stack, ".burnCPU "):
		n[0] += weight
	case strings.Contains(stack, ".burnOther "):
		n[1] += weight
	}
}

// stressChild does everything that may confuse a sampler, while samples are taken often: threads
// that come and go, stacks that grow, faults, other programs, notification of all signals, garbage
// collection, recorders that stop and start.
func stressChild() {
	notified := make(chan os.Signal, 100)
	signal.Notify(notified)
	got := make(chan bool)
	go func() { // right away, because the runtime sends itself many signals
		for s := range notified {
			if s == syscall.Signal(62) {
				close(got)
				break
			}
		}
	}()
	var stop atomic.Bool
	var working sync.WaitGroup
	for _, stress := range []func(){
		func() { working2(200) },
		func() { deep(1000) },
		func() {
			defer func() { recover() }()
			var p *int
			*p = 1
		},
		func() {
			done := make(chan bool)
			go func() {
				runtime.LockOSThread() // so that the thread ends with the goroutine
				burn(2)
				done <- true
			}()
			<-done
		},
		func() {
			if err := exec.Command("true").Run(); err != nil {
				panic(err)
			}
		},
		runtime.GC,
		func() {
			ctx, w := recorder.NewTrack(context.Background(), "stress")
			defer w.End()
			_, inner := recorder.NewTrack(ctx, "inner")
			burnOther(time.Millisecond)
			inner.End()
		},
	} {
		working.Go(func() {
			for !stop.Load() {
				stress()
			}
		})
	}
	for i := range 4 {
		rec, err := recorder.Start(recorder.Options{Dir: os.Args[1], Service: fmt.Sprint("round ", i), SampleHz: 10000})
		if err != nil {
			panic(err)
		}
		for until := cpuTime() + 300*time.Millisecond; cpuTime() < until || samplesIn(rec.Dir()) < 10; {
			syscall.Kill(os.Getpid(), 62) // a foreign signal with our number
			time.Sleep(5 * time.Millisecond)
		}
		if err := rec.Err(); err != nil {
			panic(err)
		}
		if err := rec.Stop(); err != nil {
			panic(err)
		}
		fmt.Println(rec.Dir())
	}
	stop.Store(true)
	working.Wait()
	<-got
	timers, _ := os.ReadFile("/proc/self/timers")
	fmt.Printf("timers %d\n", bytes.Count(timers, []byte("ID:")))
}

// samplesIn is how many samples a running recording has.
func samplesIn(dir string) (n int) {
	p, err := chunks.OpenProcess(os.DirFS(filepath.Dir(dir)), filepath.Base(dir))
	if err != nil {
		return 0
	}
	for blocks := p.Blocks(nil); blocks.Next(); {
		if isSample(blocks.Block().Kind) {
			n++
		}
	}
	return n
}

func working2(n int) {
	var w sync.WaitGroup
	for range n {
		w.Go(func() { deep(20) })
	}
	w.Wait()
}

//go:noinline
func deep(n int) byte {
	var room [512]byte
	room[n%512] = byte(n)
	if n == 0 {
		return room[0]
	}
	return deep(n-1) + room[n%512]
}

func TestSamplerStress(t *testing.T) {
	out, err := child("stress", []string{t.TempDir()}).Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	last := lines[len(lines)-1]
	if last != "timers 0" {
		t.Errorf("%s, want timers 0", last)
	}
	samples, odd := 0, 0
	for _, dir := range lines[:len(lines)-1] {
		for _, s := range read(t, dir).signalSamples(t) {
			samples++
			if len(s.names) == 0 {
				odd++
			}
		}
	}
	t.Logf("%d samples, %d without a function", samples, odd)
	if samples < 25 || odd*4 > samples {
		t.Errorf("%d samples, %d without a function", samples, odd)
	}
}

// takenChild ignores all signals that a sampler could use.
func takenChild() {
	for s := 50; s <= 62; s++ {
		signal.Ignore(syscall.Signal(s))
	}
	rec := childRecorder(recorder.Options{Dir: os.Args[1], CPU: recorder.CPUAny})
	if err := rec.Stop(); err != nil {
		panic(err)
	}
}

// If all signals are taken the recording says so, and CPU samples come from windows if the
// options allow that.
func TestSignalTaken(t *testing.T) {
	out, err := child("taken", []string{t.TempDir()}).Output()
	if err != nil {
		t.Fatal(err)
	}
	r := read(t, strings.TrimSpace(string(out)))
	test := r.meta("self-test.cpu")
	if r.meta(rawformat.MetaCPU) != "pprof" || !strings.Contains(test, "signals 62 to 50: the program uses it") || !strings.Contains(test, "pprof instead") {
		t.Errorf("cpu %q, self-test %q", r.meta(rawformat.MetaCPU), test)
	}
}

// lateChild takes the signal away from a running sampler.
func lateChild() {
	rec := childRecorder(recorder.Options{Dir: os.Args[1], CounterHz: -1})
	rec.Stats() // waits until the sampler has its signal
	signal.Ignore(syscall.Signal(62))
	io.Copy(io.Discard, os.Stdin)
	if err := rec.Stop(); err != nil {
		panic(err)
	}
}

func TestSignalTakenLater(t *testing.T) {
	cmd := child("late", []string{t.TempDir()})
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var b [4096]byte
	n, _ := out.Read(b[:])
	dir := strings.TrimSpace(string(b[:n]))
	await(t, "the sampler gives up", func() bool { return read(t, dir, chunks.Unproven).kinds[rawformat.KindLog] > 0 })
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// A rate above the kernel's tick is clipped, and meta names both rates.
func TestSampleRateIsClipped(t *testing.T) {
	r := finish(t, begin(t, recorder.Options{SampleHz: 10000}))
	if test := r.meta("self-test.cpu"); !strings.Contains(test, "asked 10000 Hz, tick gives ") {
		t.Errorf("self-test %q", test)
	}
	if period, _ := strconv.Atoi(r.meta(rawformat.MetaInterval)); period < 1e6 {
		t.Errorf("interval %d ns", period)
	}
}

// sampledChild burns CPU until it is killed.
func sampledChild() {
	childRecorder(recorder.Options{Dir: os.Args[1], CounterHz: -1, SampleHz: 10000})
	for range 2 {
		go func() {
			for {
				burnCPU(time.Millisecond)
			}
		}()
	}
	select {}
}

// Whenever a process is killed, each sample that it took is there once: in a chunk, or still in
// its thread's ring.
func TestSamplesSurviveKill(t *testing.T) {
	undrained := 0
	for i := 0; i < 6 || undrained == 0 && i < 60; i++ { // on a busy machine all rings may be drained when the process is killed
		cmd := child("sampled", []string{t.TempDir()})
		out, _ := cmd.StdoutPipe()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var b [4096]byte
		n, _ := out.Read(b[:])
		dir := strings.TrimSpace(string(b[:n]))
		await(t, "samples", func() bool { return read(t, dir, chunks.Unproven, chunks.Stale).sampled() > 2 })
		time.Sleep(time.Duration(i%6) * 17 * time.Millisecond) // so that it is killed at any moment of a round
		cmd.Process.Kill()
		cmd.Wait()
		undrained += checkSampled(t, dir)
	}
	t.Logf("%d samples were still in rings", undrained)
	if undrained == 0 {
		t.Error("no sample was left in a ring")
	}
}

// checkSampled returns how many samples were in rings. It checks that times rise within each
// thread, and that no sample is there twice.
func checkSampled(t *testing.T, dir string) (undrained int) {
	t.Helper()
	r := read(t, dir, chunks.Unproven)
	seen := map[[2]uint64]bool{}
	for _, s := range r.signalSamples(t) {
		key := [2]uint64{s.thread, s.time}
		if seen[key] || s.stack == 0 {
			t.Errorf("thread %d at %d: twice, or without a stack", s.thread, s.time)
		}
		seen[key] = true
	}
	for _, im := range r.Rest {
		for blocks := chunks.NewReader([]*chunks.Image{im}, nil); blocks.Next(); {
			if blocks.Block().Kind == rawformat.KindSample {
				undrained++
			}
		}
	}
	return undrained
}

// C code without frame pointers, and threads of C without goroutines, are sampled. The program is
// also position independent, so that addresses in its file and in memory differ.
func TestSamplesOfC(t *testing.T) {
	program := t.TempDir() + "/cgo"
	if out, err := exec.Command("go", "build", "-buildmode=pie", "-o", program, "./testdata/cgo").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	out, err := exec.Command(program, t.TempDir()).Output()
	if err != nil {
		t.Fatal(err)
	}
	r := read(t, strings.TrimSpace(string(out)))
	if test := r.meta("self-test.cpu"); !strings.HasPrefix(test, "signal ") || strings.Contains(test, "without") {
		t.Fatalf("self-test: %s", test)
	}
	var below, foreign, called, through int
	for _, s := range r.signalSamples(t) {
		switch {
		case s.in("main.intoC") && s.in("main.main") && s.in("runtime.cgocall"):
			below++
		case s.in("main.goCallback") && s.in("main.throughC"):
			through++
			if !s.in("runtime.cgocallback") || !s.in("runtime.cgocall") || !s.in("main.main") {
				t.Errorf("behind C is %q", s.names)
			}
		case s.in("main.goCallback") && s.in("main.work"):
			called++
		case s.goroutine == 0 && len(s.names) == 0:
			foreign++
		}
	}
	t.Logf("%d samples in C below Go, %d on a thread of C, %d in Go that it called, %d in Go that C called which Go had called", below, foreign, called, through)
	if goes := runtime.GOARCH == "amd64"; below == 0 || foreign == 0 || called == 0 || goes && through == 0 {
		t.Error("some are missing")
	}
}

// Threads for whose samples the limit has no room are left out, and the samples that they would have had are counted.
func TestThreadsLeftOut(t *testing.T) {
	rec := begin(t, recorder.Options{Limit: 1 << 20})
	if !strings.HasPrefix(rec.Stats().Sampler, "signal") {
		t.Skip(rec.Stats().Sampler)
	}
	var over atomic.Bool
	var busy sync.WaitGroup
	for range 10 {
		busy.Go(func() {
			runtime.LockOSThread() // it ends with the goroutine
			for !over.Load() {
				burnCPU(time.Millisecond)
			}
		})
	}
	waitFor(t, "lost samples", func() bool { return rec.Stats().Drops.Samples > 0 })
	over.Store(true)
	busy.Wait()
	if lost, spent := time.Duration(rec.Stats().Drops.Samples)*10*time.Millisecond, cpuTime(); lost > spent {
		t.Errorf("samples of %s were lost, of %s of CPU time", lost, spent)
	}
}
