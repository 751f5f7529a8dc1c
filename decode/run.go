package decode

import (
	"sync"

	"gprof/chunks"
	"gprof/stream"
)

// run is what all processes and all workers share. All but the pool is under the
// lock of the tables.
type run struct {
	tables    *stream.Tables
	names     names
	processes []*process
	pool      pool
	linked    sync.Cond // the next process may be linked
	next      int       // number of the process to link
	named     bool      // the symbols of all processes are linked
	goOn      bool      // behind files that cannot be read

	grouping Grouping
}

func newRun(t *stream.Tables, inputs []Input, o Options) *run {
	r := &run{tables: t, names: names{tables: t, modules: map[string]*code{}, resolver: o.Resolve}, goOn: o.GoOn,
		grouping: o.Grouping}
	r.linked.L = t
	for i, in := range inputs {
		p := newProcess(in, i, t)
		r.processes = append(r.processes, p)
		t.Tracks.Intern(p.mainTrack())
		for _, pr := range in.Found.Problems {
			t.Ledger.Add(p.line(pr))
		}
	}
	return r
}

// prepare loads and links a process. Processes are linked in the order of the
// inputs, so that what the first of several says counts, whoever was faster.
func (r *run) prepare(p *process) {
	var problems []chunks.Problem
	r.tables.Lock()
	fits := p.hold(r.tables)
	r.tables.Unlock()
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
	p.holdLoaded(r.tables)
	r.link(p)
	r.next++
	r.linked.Broadcast()
}

// link gives the dictionaries of a process their ids. If it has frames without
// names that a later process may know, the symbols of all later ones are read
// first, once and for all. With a thousand processes this is worth a special
// case: as a rule each has all its names, or the first of them has.
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

// preview links the symbols of a process whose turn has not come. What is wrong
// with its dictionaries is said when it has.
func (r *run) preview(in Input) {
	p := &process{Input: in}
	p.load(p.hold(r.tables), &r.pool, nil)
	r.linkSymbols(p)
	for _, d := range p.dicts {
		r.pool.put(d)
	}
	p.setHeld(r.tables, 0)
}

// pool keeps dictionaries and loaders that are not in use, for their memory: the
// next process needs about as much as the one before it, and what it would take
// anew stands beside what was not collected yet.
type pool struct {
	sync.Mutex
	free    []*dictionary
	loaders []*loader
	bytes   int64 // that these take
}

const (
	// maxPool bounds the dictionaries in the pool. A process seldom has more
	// generations.
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
	return new(loader)
}

func (p *pool) putLoader(l *loader) {
	p.Lock()
	defer p.Unlock()
	if p.fits(l.largest) {
		p.loaders = append(p.loaders, l)
	}
}

// fits adds to the bytes in the pool if they are not too many then.
func (p *pool) fits(bytes int64) bool {
	if p.bytes+bytes > maxPooled {
		return false
	}
	p.bytes += bytes
	return true
}

// empty gives back all that is in the pool.
func (p *pool) empty() {
	p.Lock()
	defer p.Unlock()
	p.free, p.loaders, p.bytes = nil, nil, 0
}
