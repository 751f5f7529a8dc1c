package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"strings"
	"time"

	"gprof/ingest"
	"gprof/stream"
)

// sketchFormat is a made-up format of inputs: a line "sketch PROGRAM TIME", then a line
// for each sample with the names of its functions, the outermost first, 10 ms apart.
var sketchFormat = ingest.Format{
	Name:  "sketch",
	Text:  "a sketch of a profile",
	Ends:  []string{".sketch"},
	Sniff: func(head []byte) bool { return bytes.HasPrefix(head, []byte(magic)) },
	Open:  openSketch,
}

const (
	magic  = "sketch "
	period = stream.Time(10 * time.Millisecond)
)

var errHead = errors.New(`want "sketch PROGRAM TIME" in the first line`)

// sketch is a file of the format. It holds no file open.
type sketch struct {
	process stream.Process
	stacks  []string
}

func openSketch(open ingest.Opener) (ingest.ForeignFile, error) {
	f, err := open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sum := fnv.New64a()
	lines := bufio.NewScanner(io.TeeReader(f, sum))
	lines.Scan()
	var name, text string
	if _, err := fmt.Sscanf(lines.Text(), magic+"%s %s", &name, &text); err != nil {
		return nil, errHead
	}
	start, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errHead, err)
	}
	s := &sketch{process: stream.Process{Name: name, Start: stream.Time(start.UnixNano()), Clock: stream.Clock{By: "the file"}}}
	for lines.Scan() {
		s.stacks = append(s.stacks, lines.Text())
	}
	s.process.Instance = sum.Sum64() // a file that is given twice is read once
	s.process.End = s.process.Start + period*stream.Time(len(s.stacks))
	return s, lines.Err()
}

func (s *sketch) Processes() []stream.Process { return []stream.Process{s.process} }

func (s *sketch) Lacks() string { return "CPU time, markers and counters" }

func (s *sketch) Source(t *stream.Tables, ids []stream.ProcessID, shift stream.Time) stream.Source {
	return &samples{sketch: s, tables: t, process: ids[0], start: s.process.Start + shift}
}

// samples is the source of a sketch: one batch of all samples.
type samples struct {
	*sketch
	tables  *stream.Tables
	process stream.ProcessID
	start   stream.Time
	done    bool
}

func (s *samples) Tables() *stream.Tables { return s.tables }

func (s *samples) Next(b *stream.Batch) error {
	if s.done {
		return io.EOF
	}
	s.done = true
	t := s.tables
	t.Lock() // other files are read at the same time
	defer t.Unlock()
	track := t.Tracks.Intern(stream.Track{Process: s.process, Name: "main"})
	b.Reset(stream.Series{Kind: stream.Samples, Process: s.process, Track: track}, 0)
	for i, names := range s.stacks {
		stack := stream.StackID(0)
		for name := range strings.FieldsSeq(names) {
			stack = t.Stacks.Intern(stack, t.Frames.Intern(stream.Frame{Function: t.Strings.Intern(name)}))
		}
		b.Time = append(b.Time, s.start+period*stream.Time(i))
		b.Index = append(b.Index, uint64(i+1))
		b.Stack = append(b.Stack, stack)
		b.Weight = append(b.Weight, 1)
		b.CPU = append(b.CPU, -1)
	}
	return nil
}
