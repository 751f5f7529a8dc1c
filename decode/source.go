package decode

import (
	"io"
	"sync"
	"sync/atomic"

	"gprof/stream"
)

// Source gives the events of processes.
type Source struct {
	run   *run
	queue *queue
	jobs  int
	done  atomic.Int64 // payload bytes
	total int64

	own   *worker  // with one job
	crew  *workers // with more
	ready handed
	spent []*stream.Batch // returned by the consumer, until the next hand-over
	ended bool
}

// Options say how processes are decoded. The zero value is ready to use.
type Options struct {
	// Jobs is how many goroutines read and decode; up to 1, Next itself decodes. The events are the
	// same, in another order.
	Jobs int
	// Resolve names functions that no recording names; nil: nothing does.
	Resolve Resolver
	// GoOn makes an unreadable file only a ledger line: the rest is decoded.
	GoOn bool
	// Grouping says which tracks samples and markers are put on.
	Grouping Grouping
}

// Grouping says which tracks there are.
type Grouping uint8

const (
	// ByTrack is the program's own tracks, and one for the goroutines of each root function that
	// are on none.
	ByTrack Grouping = iota
	// ByRoot is one for the goroutines of each root function.
	ByRoot
	// ByThread is one for the samples of each thread. Markers, which have no thread, are as with
	// ByTrack.
	ByThread
	// ByProcessor is for traces, which have Go's processors. Recordings don't: they are as with
	// ByTrack.
	ByProcessor
)

// New returns the source of processes whose rows are in t. None of its goroutines is left when Next
// has returned an error, or after Close.
func New(t *stream.Tables, inputs []Input, o Options) *Source {
	s := &Source{run: newRun(t, inputs, o), jobs: o.Jobs}
	s.queue = newQueue(s.run.processes)
	for _, in := range inputs {
		for _, im := range in.Found.Images() {
			s.total += int64(im.Header.Commit.Offset())
		}
	}
	return s
}

// Tables are those of the run, usable when Next has returned an error.
func (s *Source) Tables() *stream.Tables { return s.run.tables }

// Progress is the payload bytes decoded, and of how many.
func (s *Source) Progress() (done, total int64) { return s.done.Load(), s.total }

// Next implements [stream.Source]. An error is one of reading a file, of several that of the first
// chunk in input order.
func (s *Source) Next(b *stream.Batch) error {
	for !s.ready.samples.take(b) {
		switch {
		case len(s.ready.batches) > 0:
			next := s.ready.batches[0]
			s.ready.batches = s.ready.batches[1:]
			*b, *next = *next, *b
			s.spent = append(s.spent, next)
			return nil
		case s.ended:
			b.Reset(stream.Series{}, 0)
			s.run.pool.empty() // what comes now needs the memory
			if err := s.queue.err(); err != nil {
				return err
			}
			return io.EOF
		}
		s.fill()
	}
	return nil
}

// Spread implements [stream.Spreader], with a goroutine for each job. The error is as that of Next.
func (s *Source) Spread(taker func() stream.Taker) error {
	s.run.tables.Lock()
	s.queue.room = s.run.tables.Room()
	s.run.tables.Unlock()
	var working sync.WaitGroup
	var failed atomic.Pointer[error]
	for range max(s.jobs, 1) {
		w, to := s.worker(), taker()
		working.Go(func() {
			if err := w.spread(to); err != nil {
				failed.CompareAndSwap(nil, &err)
				s.queue.stop()
			}
		})
	}
	working.Wait()
	s.run.pool.empty() // what comes now needs the memory
	if err := failed.Load(); err != nil {
		return *err
	}
	return s.queue.err()
}

// spread gives all that is left to decode.
func (w *worker) spread(to stream.Taker) error {
	var h handed
	for more := true; more; {
		more = w.step()
		h = w.rows.hand(h.batches[:0])
		for _, b := range h.batches {
			if err := to.Take(b); err != nil {
				return err
			}
			w.rows.free.give(b)
		}
		if h.samples != nil {
			if err := to.TakeMixture(h.samples); err != nil {
				return err
			}
		}
		w.rows.reuse(h.samples)
	}
	return nil
}

// Close ends reading before its end.
func (s *Source) Close() error {
	s.queue.stop()
	if s.crew != nil {
		s.crew.stop()
	}
	s.ready, s.ended = handed{}, true
	return nil
}

// fill gets more batches, or ends.
func (s *Source) fill() {
	if s.jobs > 1 {
		s.receive()
		return
	}
	if s.own == nil {
		s.own = s.worker()
	}
	for _, b := range s.spent {
		s.own.rows.free.give(b)
	}
	s.spent = s.spent[:0]
	s.own.rows.reuse(s.ready.samples)
	s.ended = !s.own.step()
	s.ready = s.own.rows.hand(s.ready.batches[:0])
}

func (s *Source) worker() *worker {
	return newWorker(s.run, s.queue, s.rowsAtMost(), func(bytes int64) { s.done.Add(bytes) })
}

// More rows are gathered only with the room that is left beyond leastRoom, and as much again that no dictionary has taken by
// then: with little memory it is better for sorting them. rowBytes is about how much of it each takes.
const (
	leastRoom = 16 << 20
	rowBytes  = 64
)

// rowsAtMost is how many rows each worker may gather.
func (s *Source) rowsAtMost() int {
	s.run.tables.Lock()
	defer s.run.tables.Unlock()
	room := s.run.tables.Room()
	if room == 0 {
		return maxRows
	}
	return int(min(maxRows, 2*max(0, room-leastRoom)/rowBytes/int64(max(s.jobs, 1))))
}

// receive is fill with several workers.
func (s *Source) receive() {
	if s.crew == nil {
		s.run.tables.Lock()
		s.queue.room = s.run.tables.Room()
		s.run.tables.Unlock()
		s.crew = newCrew(s.jobs, s.worker)
		s.crew.empty.most = spareRows(s.rowsAtMost())
	}
	s.crew.giveBack(s.spent, s.ready.samples)
	s.spent = s.spent[:0]
	next, ok := <-s.crew.full
	s.ready, s.ended = next, !ok
}

// workers decode on goroutines. They hand over batches by a channel, each at most one hand-over at
// a time.
type workers struct {
	full    chan handed
	stopped chan struct{}
	stop    func()

	mu      sync.Mutex
	empty   freeList
	samples []*gathered // to reuse
}

func newCrew(jobs int, worker func() *worker) *workers {
	c := &workers{full: make(chan handed), stopped: make(chan struct{})}
	var working sync.WaitGroup
	for range jobs {
		w := worker()
		working.Go(func() { c.work(w) })
	}
	go func() {
		working.Wait()
		close(c.full)
	}()
	c.stop = sync.OnceFunc(func() {
		close(c.stopped)
		for range c.full {
		}
	})
	return c
}

// work hands over what a worker has until nothing is left.
func (c *workers) work(w *worker) {
	for more := true; more; {
		more = w.step()
		h := w.rows.hand(nil)
		c.refill(&w.rows, len(h.batches))
		select {
		case c.full <- h:
		case <-c.stopped:
			return
		}
	}
}

func (c *workers) giveBack(empty []*stream.Batch, samples *gathered) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if samples != nil {
		samples.forget() // another worker may get it
		c.samples = append(c.samples, samples)
	}
	for _, b := range empty {
		c.empty.giveAny(b)
	}
}

// refill gives a worker at most as many empty batches as it handed over, so that none hoards them.
func (c *workers) refill(to *rows, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for range min(n, len(c.empty.other)) {
		to.free.give(c.empty.takeAny())
	}
	if last := len(c.samples) - 1; last >= 0 && to.spare == nil {
		to.spare, c.samples = c.samples[last], c.samples[:last]
	}
}
