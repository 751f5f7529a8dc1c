package pprof

import (
	"cmp"
	"sync"

	"gprof/dedupe"
	"gprof/stream"
)

// Pool holds what profiles have in common, once: those of one program share nearly all names, sites
// and stacks. So a file is read only once, on opening; of its samples some bytes each are stored,
// in ids of its pool. The zero Pool is empty and ready for concurrent use.
//
// A pool holds up to maxPool, and what one file adds to that. Stacks may take a part of it: those
// that hardly any other file has would fill it, and cost less within each sample. A file that comes
// when the pool is full is read again on its turn into a spare pool, which is replaced whenever it
// is full.
type Pool struct {
	mu sync.Mutex // guards the rest; locked after the tables of a run
	common
	users   int // files and sources that need what is common
	claimed stream.Claim

	adding  *adding // nil: all files are apart
	spare   *Pool
	isSpare bool
	limit   int64 // replaces maxPool if not 0

	readings sync.Pool // of *reading
}

// common is the contents of a pool.
type common struct {
	texts   dedupe.Texts[textID]
	modules dedupe.Set[module, moduleID]
	sites   dedupe.Set[site, siteID]
	hints   hints
	callers dedupe.Set[call, callID]
	outer   dedupe.Tree[callID, outerID]
	stacks  dedupe.Tree[siteID, stackID]
	wholes  wholes
	labels  dedupe.Set[stream.LabelSet, labelsID]

	kept int64 // bytes of stored samples
	code *code // for the run that reads them
}

type (
	// Ids of a pool; 0 is none or unknown.
	textID   int32
	moduleID int32
	siteID   int32
	callID   int32
	outerID  int32
	stackID  int32
	labelsID int32
)

// module is the file of a mapping. Load addresses differ from process to process.
type module struct{ file, build textID }

// site is a place in the code: the innermost function, and what it is inlined into.
type site struct {
	spot
	inner call
	outer outerID // callers that inner is inlined into, the outermost first
}

// spot is where code lies.
type spot struct {
	offset uint64 // in the file of the module, or an address
	module moduleID
	// outside says that the address is not in the mapped part of the file, so its symbols don't
	// cover it.
	outside bool
}

// call is a line of a function.
type call struct {
	name, file  textID
	linked      textID // by which the linker knows the function: 0 as name, or noText
	start, line int32
}

// noText is the empty text where 0 means something else.
const noText textID = -1

// maxPool is the size of a full pool, in bytes. A thousand profiles of one program take a third of
// that.
const maxPool = 48 << 20

// stacksShare is the part for stacks, 1/stacksShare. Most programs have fewer, and a larger table
// is in no cache.
const stacksShare = 12

func (p *Pool) max() int64 { return cmp.Or(p.limit, maxPool) }

func (p *Pool) full() bool { return p.bytes() >= p.max() }

// wholesShare is the part for finding stacks as a whole, 1/wholesShare: some twenty thousand.
const wholesShare = 12

// child is a stack and one more site, 0 if it is new and there is no room. Spare pools hardly see a
// stack again and add none. Where files are added up there are more, if most have been there before.
func (p *Pool) child(outer stackID, s siteID) stackID {
	if p.isSpare || p.stacks.Bytes() >= p.max()/stacksShare && !p.adding.repeats() {
		return p.stacks.Lookup(outer, s)
	}
	return p.stacks.Intern(outer, s)
}

// bytes is the approximate memory of c.
func (c *common) bytes() int64 {
	n := c.texts.Bytes() + c.modules.Bytes() + c.sites.Bytes() + c.hints.bytes() + c.callers.Bytes() + c.outer.Bytes() + c.stacks.Bytes() + c.wholes.bytes() + c.labels.Bytes() + c.kept
	if c.code != nil {
		n += 4 * int64(cap(c.code.stacks))
	}
	return n
}

// takeSpare returns the spare pool with the caller as a user.
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

// leave removes a user and what was stored for it. The last user of a pool that nobody else will
// use frees it.
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

// claim tells the tables how much memory p takes.
func (p *Pool) claim(t *stream.Tables) {
	p.claimed.Set(t, p.bytes())
}
