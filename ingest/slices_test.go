package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"gprof/chunks"
	"gprof/fixtures/corpus"
	"gprof/rawformat"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// allOf is all that a sink gets of some inputs but for the ledger, and the sink.
func allOf(t *testing.T, inputs ...string) (text string, s *spanSink) {
	t.Helper()
	src, found, err := Open(inputs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	var out bytes.Buffer
	s = &spanSink{Sink: streamtest.NewText(&out), first: math.MaxInt64, last: math.MinInt64}
	if err := stream.Copy(s, src, stream.CopyOptions{SpillDir: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	for _, l := range s.tables.Ledger.Lines() {
		if l.Reason.Severity() > stream.Info {
			t.Errorf("%v: %+v", inputs, l)
		}
	}
	return ledgerLines.ReplaceAllString(out.String(), ""), s
}

var ledgerLines = regexp.MustCompile(`(?m)^ledger .*\n`)

// spanSink notes when events were.
type spanSink struct {
	stream.Sink
	tables      *stream.Tables
	first, last stream.Time
}

func (s *spanSink) Begin(t *stream.Tables) error {
	s.tables = t
	return s.Sink.Begin(t)
}

func (s *spanSink) Segment(b *stream.Batch) error {
	s.first, s.last = min(s.first, b.Time[0]), max(s.last, b.Time[b.Len()-1])
	return s.Sink.Segment(b)
}

// slice packs what was recorded between two moments.
func slice(t *testing.T, to string, span PackSpan, inputs ...string) string {
	t.Helper()
	found, err := Find(inputs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	out, err := os.Create(to)
	if err == nil {
		_, err = found.Pack(out, PackOptions{Span: span, Report: func(err error) { t.Error(err) }})
	}
	if err = errors.Join(err, out.Close()); err != nil {
		t.Fatal(err)
	}
	return to
}

// Slices that together are all of a recording are that recording, however they overlap and in whatever order they come: read
// together, merged, and merged some at a time. Most chunks are cut by several of them.
func TestSlicesAreTheRecording(t *testing.T) {
	for _, c := range []struct {
		threads int
		late    int64 // how much later than the end of its chunk an event may be, in ns: each thread of a corpus has a clock
		killed  bool
	}{{1, 0, false}, {1, 0, true}, {8, 300e6, true}} {
		t.Run(fmt.Sprintf("threads=%d/killed=%t", c.threads, c.killed), func(t *testing.T) {
			session := filepath.Join(t.TempDir(), "session")
			if _, err := corpus.Write(session, corpus.Options{Samples: 4_000, Stacks: 100, Markers: 300, Counts: 50, Writers: 3, Threads: c.threads, ChunkFile: rawformat.ChunkAlign}); err != nil {
				t.Fatal(err)
			}
			if exits, err := filepath.Glob(filepath.Join(session, "*", chunks.ExitName)); c.killed {
				if err = errors.Join(err, os.Remove(exits[0])); err != nil {
					t.Fatal(err)
				}
			}
			random := rand.New(rand.NewPCG(12, uint64(c.threads)))
			for range 3 {
				testSlices(t, session, c.late, random)
			}
		})
	}
}

func testSlices(t *testing.T, session string, late int64, random *rand.Rand) {
	dir := t.TempDir()
	want, whole := allOf(t, session)
	first, last := whole.first, whole.last
	cuts := []int64{math.MinInt64 + late, math.MaxInt64}
	for range 1 + random.IntN(4) {
		cuts = append(cuts, int64(first)+random.Int64N(int64(last-first)))
	}
	slices.Sort(cuts)
	var parts []string
	for i, from := range cuts[:len(cuts)-1] {
		span := PackSpan{From: from - late, To: cuts[i+1]}
		if random.IntN(2) == 0 && i > 0 { // longer than needed
			span.From -= random.Int64N(int64(last-first) / 3)
		}
		parts = append(parts, slice(t, filepath.Join(dir, fmt.Sprintf("%d.gprof", i)), span, session))
		_, its := allOf(t, parts[i])
		if row := its.tables.Processes[0]; !row.Exit.Known && row.End > max(its.last, stream.Time(span.To)) {
			t.Errorf("a slice to %d ends at %d, its last event is of %d", span.To, row.End, its.last)
		}
	}
	random.Shuffle(len(parts), func(i, k int) { parts[i], parts[k] = parts[k], parts[i] })
	merged := slice(t, filepath.Join(dir, "all.gprof"), PackSpan{}, parts...)
	begun := slice(t, filepath.Join(dir, "some.gprof"), PackSpan{}, parts[:2]...)
	for name, inputs := range map[string][]string{"together": parts, "merged": {merged}, "merged in turn": append([]string{begun}, parts[2:]...), "with the whole": {session, parts[0]}} {
		got, its := allOf(t, inputs...)
		if got != want {
			t.Errorf("%s: %d slices, cut at %d, are %d bytes of rows, want %d", name, len(parts), cuts, len(got), len(want))
		}
		for _, line := range its.tables.Ledger.Lines() {
			if line.Reason == stream.ReasonLeftOut {
				t.Errorf("%s: %+v", name, line)
			}
		}
	}
	found, err := Find([]string{merged}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	for _, v := range found.Verify() {
		if v.Damaged {
			t.Errorf("what was merged is damaged: %+v", v)
		}
	}
}
