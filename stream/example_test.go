package stream_test

import (
	"fmt"
	"io"
	"log"

	"gprof/stream"
)

// ticks is a source: a sample of main.work every 10 ms of CPU time.
type ticks struct {
	tables stream.Tables
	n      int
}

func (s *ticks) Tables() *stream.Tables { return &s.tables }

func (s *ticks) Next(b *stream.Batch) error {
	if s.n == 3 {
		return io.EOF
	}
	t := &s.tables
	if s.n == 0 {
		t.Processes = append(t.Processes, stream.Process{Instance: 1, Pid: 7, Name: "shop"})
	}
	track := t.Tracks.Intern(stream.Track{Process: 1, Name: "worker"})
	frame := t.Frames.Intern(stream.Frame{Function: t.Strings.Intern("main.work")})
	b.Reset(stream.Series{Kind: stream.Samples, Process: 1, Track: track}, 0)
	b.Time = append(b.Time, stream.Time(s.n)*10_000_000)
	b.Index = append(b.Index, uint64(s.n+1))
	b.Stack = append(b.Stack, t.Stacks.Intern(0, frame))
	b.Weight = append(b.Weight, 1)
	b.CPU = append(b.CPU, 10_000_000)
	s.n++
	return nil
}

// totals is a sink: it adds up CPU time by function.
type totals struct {
	tables *stream.Tables
	cpu    map[string]int64
}

func (s *totals) Begin(t *stream.Tables) error {
	s.tables, s.cpu = t, map[string]int64{}
	return nil
}

func (s *totals) Segment(b *stream.Batch) error {
	for i, stack := range b.Stack {
		_, frame := s.tables.Stacks.At(stack)
		s.cpu[s.tables.Strings.At(s.tables.Frames.At(frame).Function)] += b.CPU[i]
	}
	return nil
}

func (s *totals) Close() error { return nil }

// A source gives rows in any order, a sink gets them sorted.
func ExampleCopy() {
	sums := &totals{}
	if err := stream.Copy(sums, &ticks{}, stream.CopyOptions{}); err != nil {
		log.Print(err)
	}
	fmt.Println(sums.cpu)
	// Output:
	// map[main.work:30000000]
}
