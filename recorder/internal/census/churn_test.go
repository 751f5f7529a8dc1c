//go:build linux && (amd64 || arm64) && !gprof_portable && !go1.28

package census

import (
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"gprof/recorder/internal/rt"
)

// Stacks are whole and of this program while goroutines begin, end, wait in many places, and have
// their stacks grown, shrunk and moved.
func TestStacksOfRestlessGoroutines(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	var sink watcher
	c, err := Open(&sink)
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var all sync.WaitGroup
	for i := range 40 {
		all.Add(1)
		go restless(i, stop, &all)
	}
	var clock rt.Clock
	var tally Tally
	for sink.deep < 200 {
		c.Round(&clock, time.Second, 3, 1)
		if tally = c.tally; tally.Rounds%64 == 0 {
			runtime.GC()
		}
	}
	close(stop)
	all.Wait()
	c.Finish()
	t.Logf("%+v, %d rows", tally, sink.rows)
	for _, bad := range sink.bad {
		t.Error(bad)
	}
	if sink.rows == 0 || sink.stray > 0 {
		t.Errorf("%d rows, %d with a stack of another goroutine", sink.rows, sink.stray)
	}
}

// restless waits at the end of chains of calls that belong together, more or less deep.
func restless(seed int, stop chan struct{}, all *sync.WaitGroup) {
	defer all.Done()
	for i := seed; ; i++ {
		select {
		case <-stop:
			return
		default:
		}
		made := make(chan int)
		go func() { evenCall(2*(i%12), made) }()
		go func() { oddCall(2*(i%12)+1, made) }()
		<-made
		<-made
	}
}

// evenCall calls itself until it is called with 0; oddCall with 1. Neither calls the other.
//
//go:noinline
func evenCall(depth int, made chan int) int {
	var room [200]int
	room[depth] = depth
	if depth == 0 {
		runtime.Gosched()
		made <- 1
		return 0
	}
	return evenCall(depth-2, made) + room[depth]
}

//go:noinline
func oddCall(depth int, made chan int) int {
	var room [100]int
	room[depth] = depth
	if depth == 1 {
		time.Sleep(time.Microsecond)
		made <- 1
		return 0
	}
	return oddCall(depth-2, made) + room[depth]
}

// watcher checks each stack.
type watcher struct {
	bad        []string
	kinds      []byte // of stacks by number
	rows, deep int
	stray      int
}

func (w *watcher) Stack(calls []uintptr, _ Doing) int32 {
	expanded := rt.Expand(calls)
	fresh := len(calls) == 1
	if fresh { // perhaps in a wrapper of the compiler, which Expand leaves out
		expanded = calls
	}
	frames := runtime.CallersFrames(expanded)
	even, odd := 0, 0
	var names []string
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		names = append(names, f.Function)
		if strings.HasSuffix(f.Function, ".evenCall") {
			even++
		}
		if strings.HasSuffix(f.Function, ".oddCall") {
			odd++
		}
	}
	// One that was preempted before its function made its frame has no caller, either.
	root := names[len(names)-1]
	fresh = fresh || names[0] == "runtime.asyncPreempt2" && strings.Contains(root, ".restless.func")
	if even > 0 && odd > 0 || root != "runtime.goexit" && !fresh || even+odd > 12 || names[0] == "" {
		if len(w.bad) < 10 {
			w.bad = append(w.bad, strings.Join(names, " "))
		}
	}
	if even+odd > 8 {
		w.deep++
	}
	w.kinds = append(w.kinds, 0)
	return int32(len(w.kinds) - 1)
}

func (w *watcher) Row(goroutine uint64, stack int32, rounds uint32, _ rt.Tick) {
	w.rows++
	if int(stack) >= len(w.kinds) || rounds == 0 || goroutine == 0 {
		w.stray++
	}
}
