package decode

import (
	"math"
	"strconv"

	"gprof/chunks"
	"gprof/rawformat"
	"gprof/stream"
)

// Input is a process to decode: what was found of it, its row in the table of
// processes, and its clock.
type Input struct {
	Found *chunks.Process
	ID    stream.ProcessID
	Clock Clock
}

// process is an input while it is decoded.
type process struct {
	Input
	number   int    // of the input
	name     string // of its main track
	instance string // as the ledger has it
	ticks    ticks
	base     uint64                 // of moments, in ns of the monotonic clock
	dicts    map[uint32]*dictionary // by generation; one for each chunk's
	held     int64                  // bytes that the dictionaries take, with the largest file while they are loaded

	// Under the lock of the queue.
	units [][]*chunks.Image // not handed out yet
	open  int               // handed out and not finished
	unit  int               // number of the next

	// Under the lock of the tables.
	code          code // of addresses in no known file
	lives         map[string]*life
	first, latest stream.Time // of all rows; first is above latest when there are none
	known         []stream.Range
}

// life is when a track began and ended, as far as known. It may begin again.
type life struct{ start, again, end stream.Time }

func newProcess(in Input, number int, t *stream.Tables) *process {
	row := t.Process(in.ID)
	return &process{Input: in, number: number, name: row.Name, instance: instanceName(row.Instance),
		units: unitsOf(in.Found.Images()), lives: map[string]*life{}, first: math.MaxInt64, latest: math.MinInt64}
}

// unitsOf are chunks that decode alone. Only those of a writer whose blocks may
// go on in its next chunk stay together.
func unitsOf(images []*chunks.Image) (units [][]*chunks.Image) {
	for i, im := range images {
		if n := len(units); n > 0 && im.Header.Straddles() && images[i-1].Header.Straddles() && images[i-1].End() == im.Header.RangeStart {
			units[n-1] = images[i-len(units[n-1]) : i+1]
			continue
		}
		units = append(units, images[i:i+1])
	}
	return units
}

// hold makes room for the dictionaries, which take about as much as their files,
// and for one file that is read. If there is none they must not be loaded: the
// run ends, and what it says to need allows for records that are stacks, which
// take more room in the end than in the file.
func (p *process) hold(t *stream.Tables) (fits bool) {
	all, largest := p.dictBytes()
	p.setHeld(t, all+largest)
	if t.Full() {
		p.setHeld(t, all*5/2)
		return false
	}
	return true
}

// dictBytes is the size of all files of dictionaries, and of the largest.
func (p *process) dictBytes() (all, largest int64) {
	for _, file := range p.Found.Dicts {
		all, largest = all+file.Size, max(largest, file.Size)
	}
	return all, largest
}

func (p *process) setHeld(t *stream.Tables, bytes int64) {
	t.Hold(bytes - p.held)
	p.held = bytes
}

// holdLoaded makes room for what was loaded, instead.
func (p *process) holdLoaded(t *stream.Tables) {
	loaded := int64(0)
	p.each(func(d *dictionary) { loaded += d.room() })
	p.setHeld(t, loaded)
}

// load reads the dictionaries of the process, if they fit; it needs no lock.
func (p *process) load(fits bool, pool *pool, report func(chunks.Problem)) (malformed int64) {
	p.ticks = allTicks(p.Found)
	p.base, _ = strconv.ParseUint(meta(p.Found, rawformat.MetaTimeBase), 10, 64) // 0: they are of the clock itself
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
	pool.putLoader(l)
	return malformed
}

// moment is so many ns after the base of moments, or before it.
func (p *process) moment(since uint64) stream.Time { return p.Clock.At(p.base + since) }

// each calls f with the dictionaries by generation.
func (p *process) each(f func(*dictionary)) {
	for _, file := range p.Found.Dicts {
		if d := p.dicts[file.Generation]; d != nil { // nil: there was no room
			f(d)
		}
	}
}

// finish tells the tables what is known only at the end, and gives back what the
// process held.
func (p *process) finish(t *stream.Tables, pool *pool) {
	p.amendTracks(t)
	for _, d := range p.dicts {
		pool.put(d)
	}
	p.dicts, p.code, p.ticks, p.lives = nil, code{}, nil, nil
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
}
