package parquet

import (
	"sync"

	pq "github.com/parquet-go/parquet-go"
)

// crew is scratch memory for each of the goroutines that write columns at the same time. It is shared by all tables.
type crew chan *[]pq.Value

func newCrew(jobs int) crew {
	c := make(crew, max(jobs, 1))
	for range cap(c) {
		c <- new([]pq.Value)
	}
	return c
}

// alone reports whether there is one goroutine, which is the caller's.
func (c crew) alone() bool { return cap(c) == 1 }

// work is done with somebody's scratch memory.
type work func(cells *[]pq.Value)

// do does work on the caller's goroutine.
func (c crew) do(w work) {
	cells := <-c
	w(cells)
	c <- cells
}

// queue is the work on a column, which is done in order: columns know nothing of each other.
type queue struct {
	mu      sync.Mutex
	waiting []work
	busy    bool
}

// add does work when what was added before is done.
func (q *queue) add(c crew, w work) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, w)
	if !q.busy {
		q.busy = true
		go q.run(c)
	}
}

func (q *queue) run(c crew) {
	for w := q.next(); w != nil; w = q.next() {
		c.do(w)
	}
}

func (q *queue) next() work {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		q.busy = false
		return nil
	}
	w := q.waiting[0]
	q.waiting = q.waiting[1:]
	return w
}
