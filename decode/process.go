package decode

import (
	"math"

	"gprof/chunks"
	"gprof/rawformat"
	"gprof/rawformat/jitcode"
	"gprof/stream"
)

// Input is a process to decode, its row in the table of processes, and its clock.
type Input struct {
	Found *chunks.Process
	ID    stream.ProcessID
	Clock Clock
}

// process is an input being decoded.
type process struct {
	Input
	number   int    // of the input
	name     string // of its main track
	main     stream.TrackID
	instance string // as in the ledger
	ticks    ticks
	base     uint64                 // of moments, in ns of the monotonic clock
	dicts    map[uint32]*dictionary // by generation; one for each chunk's
	claim    stream.Claim           // of the dictionaries, and of the largest file while loading

	// Locked by the queue. units are not handed out yet.
	units [][]*chunks.Image // not handed out yet
	open  int               // handed out and not finished
	unit  int               // number of the next

	// Locked by the tables.
	code  code // of addresses in no known file
	lives map[string]*life

	// Locked by ended processes.
	first, latest stream.Time // of all rows; first is after latest if there are none

	placedFirst, placedLast stream.Time // likewise, of markers with times of the program's
	known                   []stream.Range
}

// life is when a track began and ended, as far as known. It may begin again.
type life struct{ start, again, end stream.Time }

func newProcess(in Input, number int, t *stream.Tables) *process {
	row := t.Process(in.ID)
	row.Chunks = chunkLog(in.Found, in.Clock)
	p := &process{Input: in, number: number, name: row.Name, instance: row.InstanceName(),
		units: unitsOf(in.Found.Images()), lives: map[string]*life{}, first: math.MaxInt64, latest: math.MinInt64,
		placedFirst: math.MaxInt64, placedLast: math.MinInt64}
	if IsSampled(in.Found) && row.Pid > 0 {
		p.code.made = jitcode.OfProcess(int32(row.Pid)) // a sampler knows all files of the process
	}
	return p
}

// unitsOf are chunks to decode together. Only those of a writer whose blocks may straddle chunks
// stay together.
func unitsOf(images []*chunks.Image) (units [][]*chunks.Image) {
	for i, im := range images {
		if n := len(units); n > 0 && goesOn(images[i-1], im) {
			units[n-1] = images[i-len(units[n-1]) : i+1]
			continue
		}
		units = append(units, images[i:i+1])
	}
	return units
}

// goesOn reports whether blocks of a chunk may refer to those of the one before, or begin there.
func goesOn(before, im *chunks.Image) bool {
	return im.Continues(before) || im.Header.Straddles() && before.Header.Straddles() && before.End() == im.Header.RangeStart
}

// hold reserves memory for the dictionaries, about their size, and for one file being read. If it
// does not fit they must not be loaded: the run ends, and its estimate allows for stacks, which
// grow when linked.
func (p *process) hold(t *stream.Tables) (fits bool) {
	all, largest := p.dictBytes()
	p.setHeld(t, all+largest)
	if t.Full() {
		p.setHeld(t, all*5/2)
		return false
	}
	return true
}

// dictBytes is the size of all dictionary files, and of the largest.
func (p *process) dictBytes() (all, largest int64) {
	for _, file := range p.Found.Dicts {
		all, largest = all+file.Size, max(largest, file.Size)
	}
	return all, largest
}

func (p *process) setHeld(t *stream.Tables, bytes int64) {
	p.claim.Set(t, bytes)
}

// holdLoaded reserves memory for what was loaded instead.
func (p *process) holdLoaded(t *stream.Tables) {
	loaded := int64(0)
	p.each(func(d *dictionary) { loaded += d.room() })
	p.setHeld(t, loaded)
}

// load reads the process's dictionaries, if they fit, without a lock.
func (p *process) load(fits bool, pool *pool, report func(chunks.Problem)) (malformed int64) {
	p.ticks = allTicks(p.Found)
	p.base = p.Found.Number(rawformat.MetaTimeBase) // 0: they are of the clock itself
	p.dicts = map[uint32]*dictionary{}
	if fits {
		malformed = p.loadDicts(pool, report)
	}
	for _, im := range p.Found.Images() {
		if g := uint32(im.Header.Generation); p.dicts[g] == nil { // package chunks has said so
			p.dicts[g] = pool.get(p)
		}
	}
	return malformed
}

func (p *process) loadDicts(pool *pool, report func(chunks.Problem)) (malformed int64) {
	l := pool.loader()
	for _, file := range p.Found.Dicts {
		d := pool.get(p)
		l.load(d, file, report)
		p.dicts[file.Generation] = d
		malformed += d.malformed
	}
	if p.number < pool.last {
		pool.putLoader(l)
	}
	return malformed
}

// moment is since ns after the base of moments.
func (p *process) moment(since uint64) stream.Time { return p.Clock.At(p.base + since) }

// each calls f with the dictionaries by generation.
func (p *process) each(f func(*dictionary)) {
	for _, file := range p.Found.Dicts {
		if d := p.dicts[file.Generation]; d != nil { // nil: there was no room
			f(d)
		}
	}
}

// free frees the memory of dictionaries.
func (p *process) free(pool *pool) {
	for _, d := range p.dicts {
		pool.put(d)
	}
	p.dicts, p.ticks = nil, nil
}

// finish updates the tables with what is known at the end, and frees the rest.
func (p *process) finish(t *stream.Tables) {
	p.amendTracks(t)
	p.code, p.lives = code{}, nil
	p.setHeld(t, 0)
	row := t.Process(p.ID)
	row.Read, p.known = stream.Union(p.known...), nil
	if p.first > p.latest { // no entries
		row.End = max(row.End, row.Start)
		return
	}
	if row.Start == 0 {
		row.Start = p.first
	}
	row.End = max(row.End, row.Start, p.latest) // unproven bytes may tell of times before the start
	if p.placedFirst < row.Start {
		row.Placed[0] = p.placedFirst
	}
	if p.placedLast > row.End {
		row.Placed[1] = p.placedLast
	}
}

// notes collects ledger lines, so that the ledger is locked once for many.
type notes struct {
	lines map[stream.Line]sum // key: Count and Bytes 0
}

type sum struct{ count, bytes int64 }

// maxNotes bounds the different lines collected.
const maxNotes = 256

func (n *notes) add(l stream.Line) {
	key := stream.Line{Process: l.Process, Reason: l.Reason, What: l.What, Where: l.Where}
	if n.lines == nil {
		n.lines = map[stream.Line]sum{}
	}
	s := n.lines[key]
	n.lines[key] = sum{s.count + l.Count, s.bytes + l.Bytes}
}

func (n *notes) full() bool { return len(n.lines) >= maxNotes }

// flush adds the lines to the ledger, in any order.
func (n *notes) flush(to *stream.Ledger) {
	for l, s := range n.lines {
		l.Count, l.Bytes = s.count, s.bytes
		to.Add(l)
	}
	clear(n.lines)
}

// reasons maps problems of package chunks to the ledger's.
var reasons = map[chunks.ProblemClass]stream.Reason{
	chunks.Gap:        stream.ReasonGap,
	chunks.Missing:    stream.ReasonMissing,
	chunks.Torn:       stream.ReasonTorn,
	chunks.Damaged:    stream.ReasonDamaged,
	chunks.Foreign:    stream.ReasonForeign,
	chunks.Stale:      stream.ReasonStale,
	chunks.Unproven:   stream.ReasonUnproven,
	chunks.Duplicate:  stream.ReasonDuplicate,
	chunks.Unreadable: stream.ReasonUnreadable,
	chunks.LeftOut:    stream.ReasonLeftOut,
}

// line is the ledger line of a problem found by package chunks.
func (p *process) line(pr chunks.Problem) stream.Line {
	l := stream.Line{Process: p.instance, Reason: reasons[pr.Class], What: "blocks", Where: pr.Where + ": " + pr.What, Count: pr.Blocks, Bytes: pr.Bytes}
	if pr.Blocks < 0 {
		l.What, l.Count = "places", 1
	}
	return l
}
