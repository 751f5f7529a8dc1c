package tables

import (
	"cmp"
	"slices"

	"gprof/stream"
	"gprof/stream/wording"
)

// coverage is what was read of a process: positions, and their rows.
type coverage struct {
	read   []coveredRange // ascending
	last   int            // range of the last row
	recent [8]int         // earlier ranges: a track's rows come from several writers in turn
	turn   int            // index in recent
	// grows says that the source does not know its positions: then there is one range,
	// from the first row to the last.
	grows bool
}

// coveredRange is rows of consecutive positions.
type coveredRange struct {
	stream.Range
	time0, time1 stream.Time
	rows         int64
}

func coverageOf(p *stream.Process) *coverage {
	c := &coverage{grows: p.Read == nil}
	for _, r := range p.Read {
		c.read = append(c.read, coveredRange{Range: r})
	}
	if len(c.read) == 0 {
		c.read = []coveredRange{{}}
	}
	return c
}

// add notes the rows of a segment.
func (c *coverage) add(b *stream.Batch) {
	r := &c.read[c.last]
	for i, index := range b.Index {
		if index < r.From || index >= r.To {
			r = c.find(index)
		}
		r.row(b.Time[i])
	}
}

// find returns the range of a position.
func (c *coverage) find(index uint64) *coveredRange {
	r := &c.read[0]
	switch {
	case !c.grows:
		c.last = c.place(index)
		r = &c.read[c.last]
	case r.From == r.To:
		r.Range = stream.Range{From: index, To: index + 1}
	default:
		r.From, r.To = min(r.From, index), max(r.To, index+1)
	}
	return r
}

// place is the index of a position's range, or of the one before it.
func (c *coverage) place(index uint64) int {
	for _, i := range c.recent {
		if r := &c.read[i]; r.From <= index && index < r.To {
			return i
		}
	}
	i, exact := slices.BinarySearchFunc(c.read, index, func(r coveredRange, index uint64) int { return cmp.Compare(r.From, index) })
	if !exact {
		i = max(0, i-1)
	}
	c.recent[c.turn%len(c.recent)] = i
	c.turn++
	return i
}

func (c *coveredRange) row(at stream.Time) {
	if c.rows == 0 {
		c.time0, c.time1 = at, at
	}
	c.time0, c.time1 = min(c.time0, at), max(c.time1, at)
	c.rows++
}

// writeCoverage writes the positions that were read of each process. It comes last: a
// session in this table is in all others.
func (s *Sink) writeCoverage(p *part) error {
	return s.fill(p, coverageTable, func(t *table) {
		for _, id := range p.processes {
			for i := range p.covered[id].read {
				s.writeCovered(t.begin(), p, id, &p.covered[id].read[i])
			}
		}
	})
}

func (s *Sink) writeCovered(row *rows, p *part, id stream.ProcessID, c *coveredRange) {
	row.column().string(p.name)
	row.column().short(int32(id))
	s.put(row, s.tables.Process(id).InstanceName())
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

// writeLosses writes the ledger of the source, and losses of this sink. Lines without a
// process go to the first part.
func (s *Sink) writeLosses(lost []stream.Line) error {
	var all stream.Ledger
	for _, line := range append(lost, s.known...) {
		all.Add(line)
	}
	home := map[string]*part{}
	for i := range s.tables.Processes {
		home[s.tables.Processes[i].InstanceName()] = s.partOf[i+1]
	}
	lines := map[*part][]stream.Line{}
	for _, line := range all.Lines() {
		p := home[line.Process]
		if p == nil {
			p = s.parts[0]
		}
		lines[p] = append(lines[p], line)
	}
	for _, p := range s.parts {
		err := s.fill(p, lossTable, func(t *table) {
			for _, line := range lines[p] {
				s.writeLine(t.begin(), p, line)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Sink) writeLine(row *rows, p *part, line stream.Line) {
	row.column().string(p.name)
	s.putKnown(row, line.Process)
	s.put(row, line.Reason.String())
	s.put(row, line.Reason.Severity().String())
	s.put(row, wording.Reason(line.Reason))
	s.put(row, line.What)
	s.putKnown(row, line.Where)
	row.column().long(line.Count)
	row.column().long(line.Bytes)
	row.end(1)
}
