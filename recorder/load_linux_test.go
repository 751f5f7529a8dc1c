package recorder_test

import (
	"bytes"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gprof/chunks"
	"gprof/rawformat"
	"gprof/recorder"
)

// The load does at least this much.
const (
	loadDisk = 8 << 20
	loadNet  = 4 << 20
	loadCPU  = 200 * time.Millisecond
	loadHeap = 64 << 20
)

// outside reads, by other means than the recorder, what the system says about this process, by
// the names of counters that count up.
func outside(t *testing.T) map[string]int64 {
	t.Helper()
	var cpu unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &cpu); err != nil {
		t.Fatal(err)
	}
	now := map[string]int64{"process CPU": cpu.Nano()}
	file := func(name string) (text string) {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Log(err)
		}
		return string(b)
	}
	for line := range strings.Lines(file("/proc/self/io")) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if name := map[string]string{"rchar": "read", "wchar": "written", "read_bytes": "disk read", "write_bytes": "disk written"}[key]; name != "" {
			now[name], _ = strconv.ParseInt(value, 10, 64)
		}
	}
	for line := range strings.Lines(file("/proc/net/dev")) {
		if f := strings.Fields(strings.ReplaceAll(line, ":", " ")); f[0] == "lo" {
			now["loopback"], _ = strconv.ParseInt(f[9], 10, 64)
		}
	}
	for _, resource := range []string{"cpu", "memory", "io"} {
		if _, total, ok := strings.Cut(strings.SplitN(file("/proc/pressure/"+resource), "\n", 2)[0], "total="); ok {
			us, _ := strconv.ParseInt(strings.TrimSpace(total), 10, 64)
			now[map[string]string{"cpu": "CPU", "memory": "memory", "io": "I/O"}[resource]+" pressure"] = us * 1000
		}
	}
	var goes runtime.MemStats
	runtime.ReadMemStats(&goes)
	now["allocated"], now["GC cycles"] = int64(goes.TotalAlloc), int64(goes.NumGC)
	s := []metrics.Sample{{Name: "/sync/mutex/wait/total:seconds"}}
	metrics.Read(s)
	now["lock waits"] = int64(s[0].Value.Float64() * 1e9)
	return now
}

// work is a program's load: it computes, writes to the disk, talks to itself over
// the network, and leaves garbage behind.
func work(t *testing.T, dir string) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "written"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(bytes.Repeat([]byte("x"), loadDisk)); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		if c, err := l.Accept(); err == nil {
			c.Write(make([]byte, loadNet)) // the reader would notice missing bytes
			c.Close()
		}
	}()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if n, err := io.Copy(io.Discard, c); n != loadNet {
		t.Fatal(n, err)
	}
	contend()
	for begin := outside(t)["process CPU"]; outside(t)["process CPU"]-begin < int64(loadCPU); {
		garbage = make([]byte, 1<<16)
	}
	runtime.GC()
}

// contend has goroutines wait for a lock, so many of them that the runtime measures some.
func contend() {
	var mu sync.Mutex
	var begun, waiting sync.WaitGroup
	waited := 0
	mu.Lock()
	for range 256 {
		begun.Add(1)
		waiting.Go(func() {
			begun.Done()
			mu.Lock()
			waited++
			mu.Unlock()
		})
	}
	begun.Wait()
	time.Sleep(10 * time.Millisecond)
	mu.Unlock()
	waiting.Wait()
}

var garbage, held []byte

// Each counter moves as the system says: no value is below an outside reading before it or above
// one after it, and the load is in between.
func TestCountersOfLoad(t *testing.T) {
	dir := t.TempDir()
	debug.FreeOSMemory() // otherwise the load might use memory that earlier tests have left
	before := outside(t)
	rec := begin(t, recorder.Options{CounterHz: 10})
	await(t, "counters before the load", func() bool {
		counters := live(t, rec)
		for name := range before {
			if len(values(counters, name)) == 0 {
				return false
			}
		}
		return len(values(counters, "RSS")) > 0
	})
	begun := outside(t)
	work(t, dir)
	held = bytes.Repeat([]byte("x"), loadHeap)
	done := outside(t)
	await(t, "counters behind the load", func() bool {
		counters := live(t, rec)
		cycles, rss := values(counters, "GC cycles"), values(counters, "RSS")
		return cycles[len(cycles)-1] >= done["GC cycles"] && rss[len(rss)-1] >= rss[0]+loadHeap/2
	})
	r := finish(t, rec)
	counters, after := r.counters(), outside(t)
	if r.kinds[rawformat.KindDelay] == 0 {
		t.Error("nobody ever waited for a processor")
	}
	runtime.KeepAlive(held)
	held = nil
	for name := range before {
		v := values(counters, name)
		if len(v) == 0 {
			t.Errorf("%s was not recorded", name)
			continue
		}
		for i, n := range v {
			if n < before[name] || n > after[name] || i > 0 && n < v[i-1] {
				t.Errorf("%s: %d, after %v; outside %d before, %d afterwards", name, n, v[:i], before[name], after[name])
				break
			}
		}
		t.Logf("%-16s %12d in the recording, %12d outside", name, v[len(v)-1]-v[0], done[name]-begun[name])
	}
	for name, least := range map[string]int64{"process CPU": int64(loadCPU), "loopback": loadNet, "read": loadNet, "written": loadDisk, "GC cycles": 1, "allocated": loadHeap,
		"lock waits": max(int64(time.Millisecond), done["lock waits"]-begun["lock waits"])} {
		if v := values(counters, name); v[len(v)-1]-v[0] < least {
			t.Errorf("%s moved by %d, want at least %d", name, v[len(v)-1]-v[0], least)
		}
	}
	threads := int64(0)
	for name, c := range counters {
		if strings.HasPrefix(name, "thread ") {
			threads += c.values[len(c.values)-1]
		}
	}
	if threads == 0 || threads > after["process CPU"] {
		t.Errorf("threads used %d ns, their process %d", threads, after["process CPU"])
	}
	if v := values(counters, "disk written"); done["disk written"]-begun["disk written"] >= loadDisk && v[len(v)-1]-v[0] < loadDisk {
		t.Errorf("%d bytes were written to the disk, want %d", v[len(v)-1]-v[0], loadDisk)
	}
}

// Cycles of the garbage collector are intervals. Each is there once, with the end and the pause
// that the runtime reports, and they don't overlap.
func TestCycles(t *testing.T) {
	rec := begin(t, recorder.Options{CounterHz: 10})
	await(t, "the first round", func() bool { return len(values(live(t, rec), "GC cycles")) > 0 })
	var first, last debug.GCStats
	debug.ReadGCStats(&first)
	for range 5 {
		held = bytes.Repeat([]byte("x"), 1<<20)
		runtime.GC()
	}
	debug.ReadGCStats(&last)
	await(t, "all cycles", func() bool {
		live := read(t, rec.Dir(), chunks.Unproven, chunks.Stale).of("GC")
		return len(live) > 0 && live[len(live)-1].args[0].Num >= uint64(last.NumGC)
	})
	r := finish(t, rec)
	want := [2]uint64{uint64(first.NumGC) + 1, uint64(last.NumGC)}
	ends := map[uint64]time.Time{}
	paused := map[uint64]time.Duration{}
	var stats debug.GCStats
	debug.ReadGCStats(&stats)
	for i, end := range stats.PauseEnd {
		ends[uint64(stats.NumGC)-uint64(i)] = end
		paused[uint64(stats.NumGC)-uint64(i)] = stats.Pause[i]
	}
	open := r.Chunks[0].Header.Open
	cycles := r.of("GC")
	if first, last := cycles[0].args[0].Num, cycles[len(cycles)-1].args[0].Num; first > want[0] || last < want[1] {
		t.Errorf("cycles %d to %d, want at least %d to %d", first, last, want[0], want[1])
	}
	var at uint64
	for i, e := range cycles {
		cycle := e.args[0].Num
		if want := cycles[0].args[0].Num + uint64(i); e.kind != rawformat.KindInterval || cycle != want {
			t.Errorf("%v %d, want an interval of cycle %d", e.kind, cycle, want)
		}
		if got := time.Duration(e.args[1].Num); got != paused[cycle] {
			t.Errorf("cycle %d: the world was stopped for %v, want %v", cycle, got, paused[cycle])
		}
		off := time.Duration(int64(e.at-open.Monotonic) + open.Realtime - ends[cycle].UnixNano())
		if off.Abs() > time.Millisecond {
			t.Errorf("cycle %d ended %v from when the runtime says", cycle, off)
		}
		if e.at-e.dur+uint64(50*time.Microsecond) < at || e.dur < e.args[1].Num {
			t.Errorf("cycle %d took %v, and ended %v after the one before; the world was stopped for %v", cycle, time.Duration(e.dur), time.Duration(e.at-at), time.Duration(e.args[1].Num))
		}
		t.Logf("cycle %d: %v, marking %v", cycle, time.Duration(e.dur), time.Duration(e.args[2].Num))
		at = e.at
	}
}
