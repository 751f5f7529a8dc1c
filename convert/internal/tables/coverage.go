package tables

import (
	"cmp"
	"slices"

	"gprof/stream"
)

// coverage is what there is of a process: positions that were read, and the rows
// that came of them.
type coverage struct {
	read []covered // ascending; one if positions are not known
	last int       // where the last row was
}

// covered is rows of neighbouring positions.
type covered struct {
	stream.Range
	time0, time1 stream.Time
	rows         int64
}

func coverageOf(p *stream.Process) *coverage {
	c := new(coverage)
	for _, r := range p.Read {
		c.read = append(c.read, covered{Range: r})
	}
	return c
}

// add notes the rows of a segment.
func (c *coverage) add(b *stream.Batch) {
	for i, index := range b.Index {
		c.find(index).row(b.Time[i])
	}
}

// find returns the range of a position. A source that does not know what it read
// has one range, which grows.
func (c *coverage) find(index uint64) *covered {
	if c.last < len(c.read) {
		if r := &c.read[c.last]; r.From <= index && index < r.To {
			return r
		}
	}
	if len(c.read) == 0 {
		c.read = []covered{{Range: stream.Range{From: index, To: index}}}
	}
	i, exact := slices.BinarySearchFunc(c.read, index, func(r covered, index uint64) int { return cmp.Compare(r.From, index) })
	if !exact {
		i = max(0, i-1)
	}
	c.last = i
	r := &c.read[i]
	r.From, r.To = min(r.From, index), max(r.To, index+1)
	return r
}

func (c *covered) row(at stream.Time) {
	if c.rows == 0 {
		c.time0, c.time1 = at, at
	}
	c.time0, c.time1 = min(c.time0, at), max(c.time1, at)
	c.rows++
}

// writeCoverage writes what there is of each process. It comes last: a session
// that is in this table is in all others.
func (s *Sink) writeCoverage(p *part) error {
	return s.fill(p, coverageTable, func(t *table) {
		for _, id := range p.processes {
			ranges := p.covered[id].read
			if len(ranges) == 0 {
				ranges = []covered{{}}
			}
			for i := range ranges {
				s.writeCovered(t.begin(), p, id, &ranges[i])
			}
		}
	})
}

func (s *Sink) writeCovered(row *rows, p *part, id stream.ProcessID, c *covered) {
	row.column().string(p.name)
	row.column().short(int32(id))
	s.put(row, instance(s.tables.Process(id).Instance))
	if c.From == c.To {
		row.column().null()
		row.column().null()
	} else {
		row.column().long(int64(c.From))
		row.column().long(int64(c.To - 1))
	}
	if c.rows == 0 {
		row.column().null()
		row.column().null()
	} else {
		row.column().long(int64(c.time0))
		row.column().long(int64(c.time1))
	}
	row.column().long(c.rows)
	row.end(1)
}
