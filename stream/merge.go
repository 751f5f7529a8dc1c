package stream

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"
)

// sequence is several sources, one after the other.
type sequence struct {
	tables  *Tables
	sources []Source
	next    int
}

// Merge returns a Source of all events of sources, which must share t. It reads one after
// the other. Its progress is the sum of theirs, and it closes them.
func Merge(t *Tables, sources ...Source) Source { return &sequence{tables: t, sources: sources} }

func (m *sequence) Next(b *Batch) error {
	for m.next < len(m.sources) {
		err := m.sources[m.next].Next(b)
		if !errors.Is(err, io.EOF) {
			return err
		}
		m.next++
	}
	return io.EOF
}

// Spread implements [Spreader].
func (m *sequence) Spread(taker func() Taker) error {
	for _, s := range m.sources {
		if err := Spread(s, taker); err != nil {
			return err
		}
	}
	return nil
}

// Close implements [io.Closer].
func (m *sequence) Close() (err error) {
	for _, s := range m.sources {
		if c, ok := s.(io.Closer); ok {
			err = errors.Join(err, c.Close())
		}
	}
	return err
}

func (m *sequence) Tables() *Tables { return m.tables }

func (m *sequence) Progress() (done, total int64) {
	for _, s := range m.sources {
		if p, ok := s.(Progress); ok {
			d, t := p.Progress()
			done, total = done+d, total+t
		}
	}
	return done, total
}

// parallelMerge is several sources as one, some of which are read at the same time.
//
//  1. There are as many readers as jobs, each a goroutine that takes the next source
//     and reads it to its end.
//  2. A reader fills an empty batch and hands it to the caller of Next, who gives it
//     back. So the number of batches does not grow.
//  3. When one source fails, no other is begun. Those before it are read to their ends
//     by the other readers, so that it does not depend on speed which error is
//     returned.
type parallelMerge struct {
	tables  *Tables
	sources []*observedSource
	jobs    int

	begin       sync.Once
	read, empty chan *Batch
	quit        chan struct{}
	end         func()

	mu      sync.Mutex
	changed sync.Cond // a source has ended
	next    int       // the next source to read
	reading int       // how many sources are being read
	failed  int       // the first source that failed
	err     error     // of that source
}

// observedSource is a source whose progress any goroutine may ask for while it is read.
type observedSource struct {
	Source
	done, total atomic.Int64
}

func (s *observedSource) track() {
	if p, ok := s.Source.(Progress); ok {
		done, total := p.Progress()
		s.done.Store(done)
		s.total.Store(total)
	}
}

// MergeParallel is [Merge], but reads jobs of the sources at the same time, on goroutines
// that have ended when Close or a Next with an error returns. The sources must lock t
// while they use it. While they [Claim] much memory no other one is begun, so that more
// jobs don't need more memory than there is. If several sources fail, the error is that
// of the first of them in order.
func MergeParallel(t *Tables, jobs int, sources ...Source) Source {
	if jobs <= 1 || len(sources) == 0 {
		return Merge(t, sources...)
	}
	a := &parallelMerge{tables: t, jobs: min(jobs, len(sources)), read: make(chan *Batch), quit: make(chan struct{}), failed: len(sources)}
	a.changed.L = &a.mu
	for _, s := range sources {
		one := &observedSource{Source: s}
		one.track()
		a.sources = append(a.sources, one)
	}
	a.end = sync.OnceFunc(a.stop)
	return a
}

// Tables implements Source.
func (a *parallelMerge) Tables() *Tables { return a.tables }

// Progress implements Progress.
func (a *parallelMerge) Progress() (done, total int64) {
	for _, s := range a.sources {
		done, total = done+s.done.Load(), total+s.total.Load()
	}
	return done, total
}

// Next implements Source.
func (a *parallelMerge) Next(b *Batch) error {
	a.begin.Do(a.start)
	if next, ok := <-a.read; ok {
		*b, *next = *next, *b
		a.empty <- next // has room for all there are
		return nil
	}
	b.Reset(Series{}, 0)
	if a.err != nil { // all goroutines that could set it have ended
		return a.err
	}
	return io.EOF
}

// Close implements [io.Closer].
func (a *parallelMerge) Close() (err error) {
	a.begin.Do(func() { close(a.read) })
	a.end()
	for _, s := range a.sources {
		if c, ok := s.Source.(io.Closer); ok {
			err = errors.Join(err, c.Close())
		}
	}
	return err
}

// stop makes the readers end, and waits for them.
func (a *parallelMerge) stop() {
	close(a.quit)
	a.mu.Lock()
	a.next = len(a.sources)
	a.mu.Unlock()
	a.changed.Broadcast()
	for range a.read {
	}
}

// aheadBatches is how many batches each reader reads before they are asked for.
const aheadBatches = 2

func (a *parallelMerge) start() {
	a.empty = make(chan *Batch, aheadBatches*a.jobs)
	for range aheadBatches * a.jobs {
		a.empty <- new(Batch)
	}
	var readers sync.WaitGroup
	for range a.jobs {
		readers.Go(func() {
			for i := a.take(); i >= 0; i = a.take() {
				a.done(i, a.readAll(a.sources[i]))
			}
		})
	}
	go func() {
		readers.Wait()
		close(a.read)
	}()
}

// take returns the next source to read; below 0, there is none.
func (a *parallelMerge) take() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	for a.reading > 0 && a.next < len(a.sources) && a.tables.tight() {
		a.changed.Wait()
	}
	if a.next >= len(a.sources) {
		return -1
	}
	a.next++
	a.reading++
	return a.next - 1
}

// done notes that a source was read, or why it could not be.
func (a *parallelMerge) done(i int, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.reading--
	if err != nil {
		a.next = len(a.sources)
		if i < a.failed {
			a.failed, a.err = i, err
		}
	}
	a.changed.Broadcast()
}

// readAll reads a source to its end.
func (a *parallelMerge) readAll(s *observedSource) error {
	for {
		var b *Batch
		select {
		case b = <-a.empty:
		case <-a.quit:
			return nil
		}
		err := s.Next(b)
		s.track()
		if err != nil {
			a.empty <- b
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		select {
		case a.read <- b:
		case <-a.quit:
			return nil
		}
	}
}
