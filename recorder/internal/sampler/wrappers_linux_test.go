//go:build linux && (amd64 || arm64) && !gprof_portable && !go1.28

package sampler

import (
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gprof/chunks"
	"gprof/rawformat"
	"gprof/recorder/internal/rt"
	"gprof/recorder/internal/shard"
)

// A new stack leaves out the wrappers in it, but defines their names: otherwise they would appear without names in
// the stacks that are still in rings when the process is killed.
func TestWrappersAreNamed(t *testing.T) {
	h, dir := host(t)
	s := &Sampler{host: h}
	walked := make(chan []uintptr)
	go walkInto(walked) // a go statement with an argument goes through a wrapper
	calls := <-walked
	i := slices.IndexFunc(calls, rt.IsWrapper)
	if i < 0 {
		t.Fatal("the compiler made no wrapper")
	}
	rec := rawformat.StackRecord{PC: uint64(calls[0]) - 1}
	for _, call := range calls[1:] {
		rec.Returns = append(rec.Returns, uint64(call))
	}
	if field, _ := s.intern(&rec); field < 2 {
		t.Fatalf("the stack has no id: %d", field)
	}
	if !isNamed(t, dir, reflect.TypeFor[Sampler]().PkgPath()+".TestWrappersAreNamed.gowrap1") {
		t.Error("the wrapper has no name")
	}
}

// The function that the runtime calls when it interrupts a goroutine is in no stack, as where samples come while the machine is
// busy; it is named as wrappers are.
func TestPreemptionIsLeftOut(t *testing.T) {
	h, dir := host(t)
	s := &Sampler{host: h}
	pc := preempted(t)
	here := reflect.ValueOf(preempted).Pointer() + 1
	rec := rawformat.StackRecord{PC: uint64(pc) - 1, Returns: []uint64{uint64(here)}}
	if frames := places(s.key(&rec)); len(frames) != 1 || !strings.HasSuffix(frames[0].Functions[0].Name, ".preempted") {
		t.Errorf("%+v", frames)
	}
	if field, _ := s.intern(&rec); field < 2 {
		t.Fatalf("the stack has no id: %d", field)
	}
	if !isNamed(t, dir, "runtime.asyncPreempt") {
		t.Error("it has no name")
	}
}

// preempted is a return address in the runtime's function, of a goroutine that was interrupted by it.
func preempted(t *testing.T) uintptr {
	t.Helper()
	var stop atomic.Bool
	defer stop.Store(true)
	for range 2 * runtime.GOMAXPROCS(0) {
		go func() {
			for n := 0; !stop.Load(); n++ {
				for range 1 << 30 { // without a call, in which it could stop by itself
					n++
				}
			}
		}()
	}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		all := make([]runtime.StackRecord, 1000)
		n, _ := runtime.GoroutineProfile(all)
		for _, g := range all[:min(n, len(all))] {
			for _, pc := range g.Stack() {
				if f := runtime.FuncForPC(pc - 1); f != nil && f.Name() == "runtime.asyncPreempt" {
					return pc
				}
			}
		}
	}
	t.Fatal("no goroutine was interrupted")
	return 0
}

// isNamed reports whether a dictionary contains a name.
func isNamed(t *testing.T, dir, name string) bool {
	t.Helper()
	p, err := chunks.OpenProcess(os.DirFS(filepath.Dir(dir)), filepath.Base(dir))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range p.Dicts {
		for _, rec := range d.All(nil) {
			if c := rec.Fields(); rec.Kind == rawformat.KindDefString {
				c.Uint("id")
				if string(c.Text("text")) == name {
					return true
				}
			}
		}
	}
	return false
}

//go:noinline
func walkInto(walked chan<- []uintptr) {
	calls := make([]uintptr, shard.MaxDepth)
	n, _ := rt.WalkFrames(&calls[0], shard.MaxDepth, 0)
	walked <- calls[:n]
}
