package tables

import (
	"gprof/stream"
	"gprof/stream/wording"
)

// coverage is what was read of a process: positions, and their rows.
type coverage struct {
	read []coveredRange // ascending
	// steps are of equal numbers of positions, 1<<shift, from the first range on: of each, the
	// last range that begins at or before it. A track's rows come from several writers in turn.
	steps []int32
	shift int
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
	c.divide()
	return c
}

// divide makes so many steps that few of them have the beginning of a range.
func (c *coverage) divide() {
	first := c.read[0].From
	span := c.read[len(c.read)-1].From - first
	for span>>c.shift > 8*uint64(len(c.read)) {
		c.shift++
	}
	c.steps = make([]int32, span>>c.shift+2)
	at, last := 0, len(c.steps)-1
	for i := range c.steps[:last] {
		for at+1 < len(c.read) && c.read[at+1].From-first <= uint64(i)<<c.shift {
			at++
		}
		c.steps[i] = int32(at)
	}
	c.steps[last] = int32(len(c.read) - 1)
}

// add notes the rows of a segment.
func (c *coverage) add(b *stream.Batch) {
	for i, index := range b.Index {
		r := &c.read[c.place(index)]
		if c.grows {
			r.extend(index)
		}
		r.row(b.Time[i])
	}
}

// extend takes a position in.
func (c *coveredRange) extend(index uint64) {
	if c.From == c.To {
		c.Range = stream.Range{From: index, To: index + 1}
	}
	c.From, c.To = min(c.From, index), max(c.To, index+1)
}

// place is the index of a position's range, or of the one before it.
func (c *coverage) place(index uint64) int {
	first := c.read[0].From
	step := min((max(index, first)-first)>>c.shift, uint64(len(c.steps)-2))
	at, end := int(c.steps[step]), int(c.steps[step+1])+1
	for at+1 < end {
		if middle := int(uint(at+end) / 2); c.read[middle].From <= index {
			at = middle
		} else {
			end = middle
		}
	}
	return at
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
