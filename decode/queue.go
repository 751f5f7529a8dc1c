package decode

import (
	"sync"

	"gprof/chunks"
)

// queue hands out work in the order of the inputs: a process to prepare, then
// its units. A worker prepares the next process only when nothing else is to be
// done, so that there are never more of them than workers.
type queue struct {
	sync.Mutex
	changed sync.Cond
	waiting []*process // to prepare
	ready   []*process // prepared, with units left
	loading int
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
		if len(q.waiting) > 0 && !q.behind(q.waiting[0].number, 0) {
			p := q.waiting[0]
			q.waiting = q.waiting[1:]
			q.loading++
			return job{process: p, prepare: true}, true
		}
		if q.loading == 0 {
			break
		}
		q.changed.Wait()
	}
	return job{}, false
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
	}
	j.process.open--
	return j.process.open == 0 && len(j.process.units) == 0
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
