//go:build linux && (amd64 || arm64) && !gprof_portable && !go1.28

package sampler

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

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
