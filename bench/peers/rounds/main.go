// Rounds measures what rounds over goroutines cost, see [recorder.Options].WallHz, and what
// Go's own way to see them costs, which stands in where there are no rounds. It prints tables
// in Markdown.
package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"gprof/chunks"
	"gprof/rawformat"
	"gprof/recorder"
)

const (
	hz     = 100
	warm   = 2 * time.Second
	period = 10 * time.Second
)

func main() {
	fmt.Println("| goroutines | nothing runs: looks at each, a second | % of a processor without rounds | with rounds | beside one that runs: looks | without | with | a thread that only wakes |")
	fmt.Println("|--:|--:|--:|--:|--:|--:|--:|--:|")
	for _, n := range []int{100, 1000, 10_000, 100_000} {
		if err := measure(n); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println("\n| goroutines | runtime.GoroutineProfile takes | stops of the world | each | the longest, at most |")
	fmt.Println("|--:|--:|--:|--:|--:|")
	for _, n := range []int{500, 1000, 10_000} {
		compareProfile(n)
	}
}

// measure prints a line for n goroutines that wait.
func measure(n int) error {
	idle, err := cost(n)
	if err != nil {
		return err
	}
	end := run()
	busy, err := cost(n)
	end()
	if err != nil {
		return err
	}
	fmt.Printf("| %d | %.1f | %.2f | %.2f | %.1f | %.2f | %.2f | %.2f |\n", n, idle.looks, idle.without, idle.with, busy.looks, busy.without, busy.with, wake())
	return nil
}

// costs are of n goroutines that wait.
type costs struct {
	looks         float64 // at each, a second
	without, with float64 // rounds, percent of a processor
}

func cost(n int) (costs, error) {
	dir, err := os.MkdirTemp("", "rounds")
	if err != nil {
		return costs{}, err
	}
	defer os.RemoveAll(dir)
	rec, err := recorder.Start(recorder.Options{Dir: dir})
	if err != nil {
		return costs{}, err
	}
	stop := make(chan bool)
	for range n {
		go func() { <-stop }()
	}
	defer close(stop)
	c := costs{without: busy()}
	rec.SampleWall(hz)
	time.Sleep(known(n)) // until all stacks are known
	rec.SampleWall(0)
	time.Sleep(warm)
	rec.SampleWall(hz)
	c.with = busy()
	rec.SampleWall(0)
	where := rec.Dir()
	if err := rec.Stop(); err != nil {
		return costs{}, err
	}
	looks, err := looksIn(where)
	c.looks = float64(looks) / float64(n) / period.Seconds()
	return c, err
}

// known is how long it takes to read so many stacks.
func known(n int) time.Duration { return warm + time.Duration(n)*time.Second/2000 }

// busy is how much of a processor the process uses, in percent, without the runner's thread.
func busy() float64 {
	time.Sleep(warm)
	before := cpuTime()
	time.Sleep(period)
	return 100 * float64(cpuTime()-before) / float64(period)
}

func cpuTime() time.Duration { return usage(unix.RUSAGE_SELF) - threadTime(int(runner.Load())) }

func usage(who int) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(who, &u); err != nil {
		log.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// threadTime is what a thread of the process has used of a processor; of thread 0 it is 0.
func threadTime(thread int) (d time.Duration) {
	if thread == 0 {
		return 0
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/schedstat", thread))
	if err == nil {
		_, err = fmt.Sscan(string(text), (*int64)(&d))
	}
	if err != nil {
		log.Fatal(err)
	}
	return d
}

// runner is the thread that run uses, 0: none.
var runner atomic.Int32

// run keeps a thread running until end.
func run() (end func()) {
	var stop atomic.Bool
	began, ended := make(chan bool), make(chan bool)
	go func() {
		runtime.LockOSThread() // until it ends, with the goroutine
		runner.Store(int32(unix.Gettid()))
		close(began)
		for !stop.Load() {
		}
		runner.Store(0)
		close(ended)
	}()
	<-began
	return func() { stop.Store(true); <-ended }
}

// wake is what it takes of a processor to wake a thread as often as there are rounds.
func wake() float64 {
	used := make(chan time.Duration)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		before := usage(unix.RUSAGE_THREAD)
		for range int(hz * period.Seconds()) {
			nap := unix.NsecToTimespec(int64(time.Second) / hz)
			unix.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&nap)), 0, 0)
		}
		used <- usage(unix.RUSAGE_THREAD) - before
	}()
	return 100 * float64(<-used) / float64(period)
}

var looksText = regexp.MustCompile(`^wall: .* moved, (\d+) of`)

// looksIn is how many looks the last log of a recording tells of.
func looksIn(dir string) (looks int, err error) {
	p, err := chunks.OpenProcess(os.DirFS(filepath.Dir(dir)), filepath.Base(dir))
	if err != nil {
		return 0, err
	}
	for blocks := p.Blocks(func(chunks.Problem) {}); blocks.Next(); {
		b := blocks.Block()
		if b.Kind != rawformat.KindLog {
			continue
		}
		b.Fields.Sint("time")
		b.Fields.Uint("level")
		if m := looksText.FindSubmatch(b.Fields.Text("text")); m != nil {
			if looks, err = strconv.Atoi(string(m[1])); err != nil {
				return 0, err
			}
		}
	}
	return looks, nil
}
