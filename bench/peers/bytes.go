//go:build linux

package main

import (
	"encoding/json"
	"math/bits"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
	"time"

	"gprof/chunks"
	"gprof/rawformat"
	"gprof/recorder"
)

// sizes are what entries take in a recording.
type sizes struct {
	perEntry map[rawformat.Kind]float64 // bytes, with their part of what restates context
	entries  map[rawformat.Kind]int
	dict     int64 // bytes
}

// recordBytes records work by a recorder of its own, and reads what that took.
func recordBytes(o recorder.Options, work func()) (*sizes, error) {
	dir, err := os.MkdirTemp("", "gprof-peers-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	o.Dir, o.Service, o.Limit = dir, "s", 64<<20
	rec, err := recorder.Start(o)
	if err != nil {
		return nil, err
	}
	work()
	if err := rec.Stop(); err != nil {
		return nil, err
	}
	return readSizes(rec.Dir())
}

func readSizes(dir string) (*sizes, error) {
	p, err := chunks.OpenProcess(os.DirFS(filepath.Dir(dir)), filepath.Base(dir))
	if err != nil {
		return nil, err
	}
	s := &sizes{perEntry: map[rawformat.Kind]float64{}, entries: map[rawformat.Kind]int{}}
	for _, d := range p.Dicts {
		s.dict += d.Size
	}
	var all, extra int
	blocks := p.Blocks(nil)
	for blocks.Next() {
		b := blocks.Block()
		kind, body := b.Kind, 1+b.Fields.Len()
		size := body + (bits.Len(uint(body))+6)/7
		switch kind {
		case rawformat.KindStack: // that is not in the dictionary yet: a warm recording has none
			continue
		case rawformat.KindSync, rawformat.KindContext:
			extra += size
		case rawformat.KindSampling: // of busy blocks
			s.perEntry[rawformat.KindBusyFor] += float64(size)
			all += size
			continue
		case rawformat.KindSample, rawformat.KindBusy: // a busy-for block for more than one period, or not measured
			kind = rawformat.KindBusyFor
		}
		all += size
		s.perEntry[kind] += float64(size)
		s.entries[kind]++
	}
	for k, n := range s.entries {
		s.perEntry[k] *= float64(all) / float64(all-extra) / float64(n)
	}
	return s, blocks.Err()
}

const entries = 400_000

// markerBytes are the sizes of markers as a service has them: two small numbers.
func markerBytes() (*sizes, error) {
	return recordBytes(recorder.Options{CPU: recorder.CPUOff, CounterHz: -1}, func() {
		for i := range entries / 2 {
			two.Mark(i%100, i%(64<<10))
			two.Begin(i%100, i%(64<<10)).End()
			if i%5000 == 0 {
				time.Sleep(time.Millisecond) // not all markers of a program lie side by side
			}
		}
	})
}

// sampleBytes are the sizes of samples of a program that computes, on some threads,
// of which some are idle now and then.
func sampleBytes() (*sizes, error) {
	return recordBytes(recorder.Options{CounterHz: -1}, func() {
		for start := cpuTime(); cpuTime()-start < 4*time.Second; {
			compute()
		}
	})
}

// compute is some work with stacks of all kinds.
func compute() {
	words := strings.Fields(strings.Repeat("the quick brown fox jumps over the lazy dog ", 200))
	sort.Strings(words)
	text, err := json.Marshal(words)
	if err != nil {
		panic("internal error: " + err.Error())
	}
	if err := json.Unmarshal(text, &words); err != nil {
		panic("internal error: " + err.Error())
	}
	runtime.KeepAlive(words)
}
