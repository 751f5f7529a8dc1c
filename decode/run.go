package decode

import (
	"sync"

	"gprof/chunks"
	"gprof/stream"
)

// run is shared by all processes and workers. All but the pool is locked by the tables.
type run struct {
	tables    *stream.Tables
	names     names
	processes []*process
	pool      pool
	linked    sync.Cond // the next process may be linked
	next      int       // number of the process to link
	named     bool      // the symbols of all processes are linked
	goOn      bool      // after unreadable files

	// ended is processes of which all was decoded. Its lock is that of times and positions of all processes, too.
	ended struct {
		sync.Mutex
		processes []*process
	}

	grouping Grouping
}

func newRun(t *stream.Tables, inputs []Input, o Options) *run {
	r := &run{tables: t, names: names{tables: t, modules: map[string]*code{}, resolver: o.Resolve}, goOn: o.GoOn,
		pool: pool{jobs: o.Jobs, last: len(inputs) - 1}, grouping: o.Grouping}
	r.linked.L = t
	for i, in := range inputs {
		p := newProcess(in, i, t)
		r.processes = append(r.processes, p)
		p.main = t.Tracks.Intern(p.mainTrack())
		for _, pr := range in.Found.Problems {
			t.Ledger.Add(p.line(pr))
		}
	}
	return r
}

// prepare loads and links a process. Processes are linked in input order, so that the first of
// several definitions counts.
func (r *run) prepare(p *process) {
	var problems []chunks.Problem
	fits := true
	if all, _ := p.dictBytes(); all > smallDicts {
		r.tables.Lock()
		r.finishEnded()
		fits = p.hold(r.tables)
		r.tables.Unlock()
	}
	malformed := p.load(fits, &r.pool, func(pr chunks.Problem) { problems = append(problems, pr) })
	r.tables.Lock()
	defer r.tables.Unlock()
	for r.next != p.number {
		r.linked.Wait()
	}
	ledger := &r.tables.Ledger
	for _, pr := range problems {
		ledger.Add(p.line(pr))
	}
	if malformed > 0 {
		ledger.Add(stream.Line{Process: p.instance, Reason: stream.ReasonMalformed, What: "definitions", Count: malformed})
	}
	r.finishEnded()
	p.holdLoaded(r.tables)
	r.tables.Full() // if it is, the run ends
	r.link(p)
	r.next++
	r.linked.Broadcast()
}

// smallDicts is how many bytes of dictionaries are loaded before it is asked whether they fit. To ask takes the lock, for which
// one that loads another small process after the other would often wait.
const smallDicts = 1 << 20

// finishEnded finishes processes of which all was decoded. The caller holds the tables: to take them for each process takes long
// where others link one small process after the other.
func (r *run) finishEnded() {
	r.ended.Lock()
	defer r.ended.Unlock()
	for _, p := range r.ended.processes {
		p.finish(r.tables)
		r.processes[p.number] = nil // there may be thousands
	}
	r.ended.processes = r.ended.processes[:0]
}

// link gives the dictionaries of a process their ids. If it has nameless frames that a later
// process may name, the symbols of all later ones are read first, once. Mostly each process has all
// names, or the first has.
func (r *run) link(p *process) {
	r.linkSymbols(p)
	nameless := false
	if !r.named && p.number+1 < len(r.processes) {
		p.each(func(d *dictionary) { nameless = nameless || d.nameless() })
	}
	if nameless {
		r.named = true
		for _, later := range r.processes[p.number+1:] {
			r.preview(later.Input)
		}
	}
	p.each(func(d *dictionary) { d.link(&r.names) })
}

func (r *run) linkSymbols(p *process) {
	p.each(func(d *dictionary) { d.linkModules(&r.names) })
	p.each((*dictionary).linkPlaces)
	p.each((*dictionary).linkSymbols)
}

// preview links the symbols of a later process. Its problems are reported on its turn.
func (r *run) preview(in Input) {
	p := &process{Input: in}
	p.load(p.hold(r.tables), &r.pool, nil)
	r.linkSymbols(p)
	for _, d := range p.dicts {
		r.pool.put(d)
	}
	p.setHeld(r.tables, 0)
}

// pool keeps dictionaries and loaders for reuse: the next process needs about as much memory, which
// would otherwise add to uncollected garbage.
type pool struct {
	sync.Mutex
	jobs    int // of a loader
	last    int // process, after which no loader is needed
	free    []*dictionary
	loaders []*loader
	bytes   int64 // of all these
}

const (
	// maxPool bounds the dictionaries in the pool. A process seldom has more generations.
	maxPool = 8

	// maxPooled bounds the bytes in the pool.
	maxPooled = 48 << 20
)

func (p *pool) get(owner *process) *dictionary {
	p.Lock()
	defer p.Unlock()
	if n := len(p.free); n > 0 {
		d := p.free[n-1]
		p.free = p.free[:n-1]
		p.bytes -= d.room()
		d.process = owner
		return d
	}
	return &dictionary{process: owner}
}

func (p *pool) put(d *dictionary) {
	d.reset()
	p.Lock()
	defer p.Unlock()
	if len(p.free) < maxPool && p.fits(d.room()) {
		p.free = append(p.free, d)
	}
}

func (p *pool) loader() *loader {
	p.Lock()
	defer p.Unlock()
	if n := len(p.loaders); n > 0 {
		l := p.loaders[n-1]
		p.loaders = p.loaders[:n-1]
		p.bytes -= l.largest
		return l
	}
	return &loader{jobs: p.jobs}
}

func (p *pool) putLoader(l *loader) {
	p.Lock()
	defer p.Unlock()
	if p.fits(l.largest) {
		p.loaders = append(p.loaders, l)
	}
}

// fits adds to the bytes in the pool, up to maxPooled.
func (p *pool) fits(bytes int64) bool {
	if p.bytes+bytes > maxPooled {
		return false
	}
	p.bytes += bytes
	return true
}

func (p *pool) empty() {
	p.Lock()
	defer p.Unlock()
	p.free, p.loaders, p.bytes = nil, nil, 0
}

// queue hands out work in input order: a process to prepare, then its units. A worker prepares the
// next process only when nothing else is to be done, so there are never more prepared ones than
// workers, and only one at a time if their dictionaries are large.
type queue struct {
	sync.Mutex
	changed sync.Cond
	waiting []*process // to prepare
	ready   []*process // prepared, with units left
	loading int
	open    int   // prepared and not finished
	held    int64 // bytes of these
	room    int64 // limit of held for several; 0: none
	failure failure
	stopped bool
}

// failure is the first unit, in order, that could not be read.
type failure struct {
	err           error
	process, unit int
}

// job is a process to prepare, or some of its chunks.
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

// take waits for the next job. It is not ok if there is none left.
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

// fits reports whether there is room for the dictionaries of p, and one file being read.
func (q *queue) fits(p *process) bool {
	all, largest := p.dictBytes()
	return q.open == 0 || q.room == 0 || q.held+all+largest <= q.room
}

// next prepares the first waiting process.
func (q *queue) next() job {
	p := q.waiting[0]
	q.waiting = q.waiting[1:]
	q.loading++
	q.open++
	all, largest := p.dictBytes()
	q.held += all + largest
	return job{process: p, prepare: true}
}

// unit is a job of a ready process.
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

// behind reports whether a unit comes after one that failed, so that nobody wants it.
func (q *queue) behind(process, unit int) bool {
	f := &q.failure
	return f.err != nil && (process > f.process || process == f.process && unit > f.unit)
}

// prepared makes the units of p ready, and returns whether it has none.
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

// done ends a unit, and returns whether it was its process's last.
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

// finished frees what p held.
func (q *queue) finished(p *process) {
	q.Lock()
	defer q.Unlock()
	q.open--
	all, _ := p.dictBytes()
	q.held -= all
	q.changed.Broadcast()
}

// err is why reading ended early.
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
