package decode

import (
	"sync"

	"gprof/chunks"
)

// queue hands out work in the order of the inputs: a process to prepare, then
// its units. A worker prepares the next process only when nothing else is to be
// done, so that there are never more of them than workers, and only one at a time
// if their dictionaries are large.
type queue struct {
	sync.Mutex
	changed sync.Cond
	waiting []*process // to prepare
	ready   []*process // prepared, with units left
	loading int
	open    int   // begun to prepare and not finished
	held    int64 // bytes that these take
	room    int64 // how many they should take at most if they are several; 0: any
	failure failure
	stopped bool
}

// failure is the first unit, in order, that could not be read.
type failure struct {
	err           error
	process, unit int
}

// job is one piece of work: a process to prepare, or some of its chunks.
type job struct {
	process *process
	prepare bool
	images  []*chunks.Image
	unit    int
}

func newQueue(processes []*process) *queue {
	q := &queue{waiting: processes}
	q.changed.L = &q.Mutex
	return q
}

// take waits for the next job. It is not ok when there are none left.
func (q *queue) take() (j job, ok bool) {
	q.Lock()
	defer q.Unlock()
	for !q.stopped {
		if j, ok = q.unit(); ok {
			return j, true
		}
		wanted := len(q.waiting) > 0 && !q.behind(q.waiting[0].number, 0)
		switch {
		case wanted && q.fits(q.waiting[0]):
			return q.next(), true
		case !wanted && q.loading == 0:
			return job{}, false
		}
		q.changed.Wait()
	}
	return job{}, false
}

// fits reports whether there is room for the dictionaries of p, and for the file
// of one of them, beside what others take.
func (q *queue) fits(p *process) bool {
	all, largest := p.dictBytes()
	return q.open == 0 || q.room == 0 || q.held+all+largest <= q.room
}

// next is to prepare the first process that waits.
func (q *queue) next() job {
	p := q.waiting[0]
	q.waiting = q.waiting[1:]
	q.loading++
	q.open++
	all, largest := p.dictBytes()
	q.held += all + largest
	return job{process: p, prepare: true}
}

// unit is a job of some process that is ready.
func (q *queue) unit() (j job, ok bool) {
	for len(q.ready) > 0 {
		p := q.ready[0]
		if len(p.units) == 0 || q.behind(p.number, p.unit) {
			q.ready = q.ready[1:]
			continue
		}
		j = job{process: p, images: p.units[0], unit: p.unit}
		p.units = p.units[1:]
		p.unit++
		p.open++
		return j, true
	}
	return j, false
}

// behind reports whether a unit comes after one that failed: nobody will ask
// for it.
func (q *queue) behind(process, unit int) bool {
	f := &q.failure
	return f.err != nil && (process > f.process || process == f.process && unit > f.unit)
}

// prepared says that the units of p can be decoded. It returns whether it has
// none.
func (q *queue) prepared(p *process) (empty bool) {
	q.Lock()
	defer q.Unlock()
	q.loading--
	_, largest := p.dictBytes()
	q.held -= largest
	q.ready = append(q.ready, p)
	q.changed.Broadcast()
	return len(p.units) == 0
}

// done says that a unit was decoded, or why not. It returns whether it was the
// last one of its process.
func (q *queue) done(j job, err error) (last bool) {
	q.Lock()
	defer q.Unlock()
	if err != nil && !q.behind(j.process.number, j.unit) {
		q.failure = failure{err, j.process.number, j.unit}
		q.changed.Broadcast()
	}
	j.process.open--
	return j.process.open == 0 && len(j.process.units) == 0
}

// finished says that p takes nothing any more.
func (q *queue) finished(p *process) {
	q.Lock()
	defer q.Unlock()
	q.open--
	all, _ := p.dictBytes()
	q.held -= all
	q.changed.Broadcast()
}

// err is why reading ended before its end.
func (q *queue) err() error {
	q.Lock()
	defer q.Unlock()
	return q.failure.err
}

// stop lets all workers end.
func (q *queue) stop() {
	q.Lock()
	defer q.Unlock()
	q.stopped = true
	q.changed.Broadcast()
}
