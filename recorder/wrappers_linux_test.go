//go:build linux && (amd64 || arm64) && !gprof_portable

package recorder

import (
	"reflect"
	"slices"
	"testing"

	"gprof/rawformat"
	"gprof/recorder/internal/rt"
	"gprof/recorder/internal/shard"
)

// A new stack names the wrappers on its way, which it leaves out: without names
// they would stand in the stacks that are still in rings when the process is killed.
func TestWrappersAreNamed(t *testing.T) {
	r := beginInternal(t, Options{Limit: 4 << 20, CPU: CPUOff})
	<-r.mapped
	dismiss(r) // nobody else defines anything
	walked := make(chan []uintptr)
	go walkInto(walked) // a call with an argument: by a wrapper
	calls := <-walked
	i := slices.IndexFunc(calls, rt.IsWrapper)
	if i < 0 {
		t.Fatal("the compiler made no wrapper")
	}
	rec := rawformat.StackRecord{PC: uint64(calls[0]) - 1}
	for _, call := range calls[1:] {
		rec.Returns = append(rec.Returns, uint64(call))
	}
	if row := new(sampler).row(&r.keeper, &rec, nil); row.stack < 2 {
		t.Fatalf("the stack has no id: %+v", row)
	}
	r.Stop()
	pkg := reflect.TypeFor[Recorder]().PkgPath()
	if !isNamed(t, r.dir, pkg+".TestWrappersAreNamed.gowrap1") {
		t.Error("the wrapper has no name")
	}
}

//go:noinline
func walkInto(walked chan<- []uintptr) {
	calls := make([]uintptr, shard.MaxDepth)
	n, _ := rt.WalkFrames(&calls[0], shard.MaxDepth, 0)
	walked <- calls[:n]
}
