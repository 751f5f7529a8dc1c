package pprof

import (
	"cmp"
	"sync"

	"gprof/dedupe"
	"gprof/stream"
)

// Pool holds once what profiles have in common: those of one program have nearly
// all of their names, places in the code and stacks. So a file is read but once,
// when it is opened, and what is kept of it are its samples, some bytes each, as
// ids of its pool. The zero Pool is empty and ready to use, by several goroutines.
//
// It holds no more than maxPool, and what one file adds to that. Stacks may take a
// part of it; those that are in hardly any other file would fill it, and cost less as
// a part of each sample. A file that comes when it is full is read again when its
// samples are wanted, into a spare pool, which makes way for another as often as it
// is full.
type Pool struct {
	mu sync.Mutex // held while the rest is used; locked after the tables of a run
	common
	users int   // files and sources that need what is common
	held  int64 // bytes that the tables of a run are told of

	spare   *Pool
	isSpare bool
	limit   int64 // instead of maxPool, if it is not 0

	readings sync.Pool // of *reading, for their memory
}

// common is what is in a pool.
type common struct {
	texts   dedupe.Texts[textID]
	modules dedupe.Set[module, moduleID]
	sites   dedupe.Set[site, siteID]
	hints   hints
	callers dedupe.Set[call, callID]
	outer   dedupe.Tree[callID, outerID]
	stacks  dedupe.Tree[siteID, stackID]
	labels  dedupe.Set[stream.LabelSet, labelsID]

	kept int64 // bytes of samples
	code *code // for the run that reads them
}

// Ids of a pool. 0 is none, or unknown.
type (
	textID   int32
	moduleID int32
	siteID   int32
	callID   int32
	outerID  int32
	stackID  int32
	labelsID int32
)

// module is the file of a mapping, by what names it: where it was loaded differs
// from process to process.
type module struct{ file, build textID }

// site is a place in the code: the innermost function there, and what that was
// inlined into.
type site struct {
	offset uint64 // in the file of the module, or an address
	module moduleID
	inner  call
	outer  outerID // the functions that inner was inlined into, the outermost first
	// outside says that the address is not of the part of the file that was mapped,
	// so that it is nothing that the program's own tables know.
	outside bool
}

// call is a line of a function.
type call struct {
	name, file  textID
	start, line int32
}

// maxPool is how many bytes a pool has when nothing more is put into it. A thousand
// profiles of one program take a third of that.
const maxPool = 48 << 20

// stacksShare is which part of that is for stacks: 1/stacksShare. A program mostly
// has fewer; and what is larger is in no cache of the processor when it is looked at.
const stacksShare = 12

func (p *Pool) max() int64 { return cmp.Or(p.limit, maxPool) }

func (p *Pool) full() bool { return p.bytes() >= p.max() }

// child is the stack of one more site, 0 if it is not there and there is no room for
// it. A spare pool, which hardly sees a stack again, has none.
func (p *Pool) child(outer stackID, s siteID) stackID {
	if p.isSpare || p.stacks.Bytes() >= p.max()/stacksShare {
		return p.stacks.Lookup(outer, s)
	}
	return p.stacks.Intern(outer, s)
}

// bytes is about how much memory c takes.
func (c *common) bytes() int64 {
	n := c.texts.Bytes() + c.modules.Bytes() + c.sites.Bytes() + c.hints.bytes() + c.callers.Bytes() + c.outer.Bytes() + c.stacks.Bytes() + c.labels.Bytes() + c.kept
	if c.code != nil {
		n += 4 * int64(cap(c.code.stacks))
	}
	return n
}

// takeSpare returns the spare pool, whose user the caller is.
func (p *Pool) takeSpare() *Pool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.spare == nil || p.spare.use() {
		p.spare = &Pool{isSpare: true, limit: p.limit, users: 1}
	}
	return p.spare
}

// use adds a user, unless p is full.
func (p *Pool) use() (full bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.full() {
		return true
	}
	p.users++
	return false
}

// leave says that a user does not need p any more, or what was kept for it. The
// last one of a pool that nobody else will use lets go of all.
func (p *Pool) leave(t *stream.Tables, kept int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.users--
	p.kept -= int64(kept)
	if p.users == 0 && (!p.isSpare || p.full()) {
		p.common = common{}
	}
	p.claim(t)
}

// claim tells tables how much memory p takes beside them.
func (p *Pool) claim(t *stream.Tables) {
	now := p.bytes()
	t.Hold(now - p.held)
	p.held = now
}
