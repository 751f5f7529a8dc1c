package stream_test

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"testing"

	"gprof/stream"
	"gprof/stream/streamtest"
)

// slowSource is a source that waits before each of its steps, and may fail at its end.
type slowSource struct {
	stream.Source
	step func()
	err  error
}

func (s *slowSource) Next(b *stream.Batch) error {
	s.step()
	err := s.Source.Next(b)
	if err == io.EOF && s.err != nil {
		return s.err
	}
	return err
}

// inParallel is some sources of one process each, read jobs at a time.
func inParallel(jobs, sources int, change func(i int, s *slowSource)) stream.Source {
	t := new(stream.Tables)
	var all []stream.Source
	for i := range sources {
		id := stream.ProcessID(i + 1)
		t.Processes = append(t.Processes, stream.Process{Instance: uint64(id), Name: fmt.Sprint(i)})
		series := stream.Series{Process: id, Track: t.Tracks.Intern(stream.Track{Process: id, Name: fmt.Sprint(i), Main: true})}
		var rows []streamtest.Row
		for n := range 50 * (i + 1) {
			rows = append(rows, streamtest.Row{Series: series, Time: stream.Time(n), Index: uint64(n + 1), Weight: 1})
		}
		s := &slowSource{Source: streamtest.NewSource(t, streamtest.Batches(t, rows, 20)...), step: func() {}}
		if change != nil {
			change(i, s)
		}
		all = append(all, s)
	}
	return stream.MergeParallel(t, jobs, all...)
}

func TestMergeParallel(t *testing.T) {
	for _, jobs := range []int{1, 2, 9} {
		t.Run(fmt.Sprint(jobs), func(t *testing.T) {
			streamtest.TestSource(t, func(*testing.T) stream.Source { return inParallel(jobs, 5, nil) })
			var count stream.Count
			if err := stream.Copy(&count, inParallel(jobs, 5, nil), stream.CopyOptions{}); err != nil {
				t.Fatal(err)
			}
			if sum := count.Sum(func(stream.Series) bool { return true }); sum.Rows != 750 {
				t.Errorf("%d rows came, want 750", sum.Rows)
			}
		})
	}
}

// Sources are read at the same time: each waits until all have begun.
func TestMergeParallelReadsAtOnce(t *testing.T) {
	var begun sync.WaitGroup
	begun.Add(3)
	src := inParallel(3, 3, func(_ int, s *slowSource) {
		s.step = sync.OnceFunc(func() { begun.Done(); begun.Wait() })
	})
	if err := stream.Copy(stream.Discard, src, stream.CopyOptions{}); err != nil {
		t.Error(err)
	}
}

// If several sources fail the error is that of the first one, even if another failed
// earlier; no later source is begun.
func TestMergeParallelFails(t *testing.T) {
	failed := make(chan struct{})
	errs := []error{errors.New("first"), errors.New("second")}
	src := inParallel(2, 3, func(i int, s *slowSource) {
		switch i {
		case 0:
			s.err, s.step = errs[0], func() { <-failed }
		case 1:
			steps := 0
			s.err, s.step = errs[1], func() {
				if steps++; steps == 6 { // its 100 rows are 5 batches
					close(failed)
				}
			}
		case 2:
			s.step = func() { t.Error("a source was begun behind one that had failed") }
		}
	})
	if err := stream.Copy(stream.Discard, src, stream.CopyOptions{}); !errors.Is(err, errs[0]) {
		t.Errorf("the error is %v, want %v", err, errs[0])
	}
}

// While much memory is claimed sources are read one after the other.
func TestMergeParallelHolds(t *testing.T) {
	const memory = 64 << 20
	var reading, most atomic.Int32
	src := inParallel(4, 4, func(_ int, s *slowSource) {
		s.step = sync.OnceFunc(func() {
			now := reading.Add(1)
			if now > most.Load() {
				most.Store(now)
			}
		})
		s.Source = &ending{s.Source, func() { reading.Add(-1) }}
	})
	new(stream.Claim).Set(src.Tables(), memory/4)
	if err := stream.Copy(stream.Discard, src, stream.CopyOptions{Memory: memory}); err != nil {
		t.Error(err)
	}
	if reading.Load() != 0 || most.Load() != 1 {
		t.Errorf("%d are still read, %d were at once, want 0 and 1", reading.Load(), most.Load())
	}
}

// ending calls a function when a source has come to its end.
type ending struct {
	stream.Source
	end func()
}

func (e *ending) Next(b *stream.Batch) error {
	err := e.Source.Next(b)
	if err == io.EOF {
		e.end()
	}
	return err
}
