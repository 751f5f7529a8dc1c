package pprof

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gprof/stream"
	"gprof/stream/streamtest"
)

// Samples bear the number of their goroutine and the labels of the program, and
// those of one goroutine and stack are one.
func TestWho(t *testing.T) {
	b := streamtest.NewBuilder()
	track := b.Process(stream.Process{Instance: 1, Pid: 1, Name: "shop", Start: begin}).Track("checkout")
	request := b.Tables.Labels.Intern(stream.NewLabelSet(stream.Attr{Key: "route", Value: "/cart"}, stream.Attr{Key: "track", Value: "rail"}))
	stack := b.Stack("main.main")
	for i, who := range []stream.Owner{{Goroutine: 7}, {}, {Goroutine: 8, Labels: request}, {Goroutine: 7, Thread: 3}, {Goroutine: 8, Labels: request}, {Labels: request}} {
		track.Add(streamtest.Row{Series: stream.Series{Kind: stream.Samples}, Time: begin + stream.Time(i), Stack: stack, Weight: 1, CPU: 10, Owner: who})
	}
	var got []string
	for _, s := range convert(t, b.Source()).Sample {
		line := fmt.Sprint(s.Value, s.NumLabel, s.NumUnit)
		for _, key := range slices.Sorted(maps.Keys(s.Label)) {
			line += " " + key + "=" + strings.Join(s.Label[key], ",")
		}
		got = append(got, line)
	}
	const of = " instance=0000000000000001"
	const is = " process=shop · pid 1"
	want := []string{
		"[2 20] map[goroutine:[7]] map[]" + of + is + " track=checkout",
		"[1 10] map[] map[]" + of + is + " track=checkout",
		"[2 20] map[goroutine:[8]] map[]" + of + " label.track=rail" + is + " route=/cart track=checkout",
		"[1 10] map[] map[]" + of + " label.track=rail" + is + " route=/cart track=checkout",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error("samples, want, got:\n", d)
	}
}

// Processes that nothing but their instances tell apart, such as pid 1 of two
// containers, are two for pprof.
func TestProcessLabels(t *testing.T) {
	b := streamtest.NewBuilder()
	for _, instance := range []uint64{0x3fa9 << 48, 0x71c0 << 48} {
		p := b.Process(stream.Process{Instance: instance, Pid: 1, Service: "shop", Host: "box", Start: begin})
		p.Main.Sample(begin, b.Stack("main.main"))
	}
	var got []string
	for _, s := range convert(t, b.Source()).Sample {
		got = append(got, s.Label["process"]...)
	}
	if d := cmp.Diff([]string{"shop · box · pid 1 · 3fa9", "shop · box · pid 1 · 71c0"}, got); d != "" {
		t.Error("processes, want, got:\n", d)
	}
}

// There may be as many goroutines as requests: only some are held at a time,
// and all are counted.
func TestManyGoroutines(t *testing.T) {
	const goroutines = 150_000
	b := streamtest.NewBuilder()
	track := b.Process(stream.Process{Instance: 1, Pid: 1, Name: "shop", Start: begin}).Track("checkout")
	stack := b.Stack("main.main")
	for i := range stream.Time(goroutines) {
		track.Add(streamtest.Row{Series: stream.Series{Kind: stream.Samples}, Time: begin + i, Stack: stack, Weight: 1, CPU: 1, Owner: stream.Owner{Goroutine: 1 + int64(i)}})
	}
	seen := map[int64]bool{}
	for _, s := range convert(t, b.Source()).Sample {
		seen[s.NumLabel["goroutine"][0]] = true
	}
	if len(seen) != goroutines {
		t.Errorf("%d goroutines, want %d", len(seen), goroutines)
	}
}
