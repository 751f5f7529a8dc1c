package tables

import (
	"errors"
	"slices"
	"sync"

	"gprof/stream"
)

// part is the processes of one service that began on one day, or all of them. Its tables refer only
// to each other.
type part struct {
	service, date string
	name          string // of its files
	processes     []stream.ProcessID
	open          map[string]*table // by name among the files
	order         []*table          // as begun
	files         map[string]int    // number for each table
	stacks        bits              // in use, by number in the tree; nil if none is
	covered       map[stream.ProcessID]*coverage
	finished      bool // all rows but those of the whole run are written
}

// partsOf divides the processes into at least one part.
func (s *Sink) partsOf() (parts []*part, of []*part) {
	t, known := s.tables, map[[2]string]*part{}
	of = make([]*part, len(t.Processes)+1)
	for i := range t.Processes {
		id := stream.ProcessID(i + 1)
		key := [2]string{serviceOf(t.Process(id)), dateOf(t.Process(id).Start)}
		if s.format.OneFile {
			key = [2]string{}
		}
		if known[key] == nil {
			known[key] = &part{service: key[0], date: key[1]}
			parts = append(parts, known[key])
		}
		of[id] = known[key]
		of[id].processes = append(of[id].processes, id)
	}
	if len(parts) == 0 {
		parts = []*part{{}}
	}
	for _, p := range parts {
		p.name = s.sessionOf(p.processes)
		p.open, p.files = map[string]*table{}, map[string]int{}
		p.covered = map[stream.ProcessID]*coverage{}
		for _, id := range p.processes {
			p.covered[id] = coverageOf(t.Process(id))
		}
	}
	return parts, of
}

// last is the last process of the part.
func (p *part) last() stream.ProcessID { return p.processes[len(p.processes)-1] }

// create begins a table of the part. In a data set its file is created with the first row.
func (s *Sink) create(p *part, name string, def Definition) (*table, error) {
	p.files[name]++
	if s.format.OneFile { // the others find out by themselves
		def.Columns = s.withTexts(p, name, def.Columns)
	}
	path := s.format.path(p, name, p.files[name])
	t := &table{name: name, columns: def.Columns, rows: &s.rows}
	t.create = func() (err error) {
		if t.file, err = s.dir.Create(path); err == nil {
			t.out = s.format.Begin(t.file, &def, s.atOnce())
		}
		return err
	}
	if s.dataSet != "" {
		return t, nil
	}
	return t, t.create()
}

// atOnce is about how many tables may be open at once.
func (s *Sink) atOnce() int {
	n := len(s.parts) * len(s.tables.Events)
	if s.format.MaxOpen > 0 {
		n = min(n, s.format.MaxOpen)
	}
	return n
}

// open returns a table of the part for rows until its last process ends.
func (s *Sink) open(p *part, def Definition) (*table, error) {
	return s.openAs(p, def.Name, def)
}

func (s *Sink) openAs(p *part, name string, def Definition) (*table, error) {
	s.uses++
	if t := p.open[name]; t != nil {
		t.used = s.uses
		return t, nil
	}
	if err := s.makeRoom(); err != nil {
		return nil, err
	}
	t, err := s.create(p, name, def)
	if err != nil {
		return nil, err
	}
	t.used = s.uses
	p.open[name] = t
	p.order = append(p.order, t)
	return t, nil
}

// makeRoom ends the file of the least recently used table if there are too many: its next rows
// begin another file.
func (s *Sink) makeRoom() error {
	if s.format.MaxOpen == 0 {
		return nil
	}
	var of *part
	var oldest *table
	n := 0
	for _, p := range s.parts {
		n += len(p.order)
		for _, t := range p.order {
			if oldest == nil || t.used < oldest.used {
				of, oldest = p, t
			}
		}
	}
	if n < s.format.MaxOpen {
		return nil
	}
	of.order = slices.DeleteFunc(of.order, func(t *table) bool { return t == oldest })
	delete(of.open, oldest.name)
	return oldest.close()
}

// closeTables ends the files of events, and returns a function that waits for that: with several jobs others may
// be written meanwhile.
func (s *Sink) closeTables(p *part) (wait func() error) {
	s.rows.leave()
	all := p.order
	p.order, p.open = nil, map[string]*table{}
	wait = sync.OnceValue(func() error {
		for i, t := range all {
			if err := t.finish(); err != nil {
				return err
			}
			all[i] = nil // the memory is needed
		}
		return nil
	})
	if s.jobs > 1 {
		go wait()
	} else {
		wait()
	}
	return wait
}

// maxWaiting bounds the memory of buffered rows of all open tables, in bytes.
const maxWaiting = 32 << 20

// limit flushes the table with most buffered rows if there are too many in all. It looks only now
// and then, since there may be very many tables.
func (s *Sink) limit(came int) error {
	if s.came += came; s.came < maxWaiting/64 {
		return nil
	}
	s.came = 0
	var largest *table
	all, most := 0, 0
	for _, p := range s.parts {
		for _, t := range p.order {
			n := t.waiting()
			all += n
			if largest == nil || n > most {
				largest, most = t, n
			}
		}
	}
	if all <= maxWaiting {
		return nil
	}
	return largest.out.Cut()
}

// openAll begins the tables of events without rows, so that readers of all tables find a file.
// Typed marker tables exist only with rows.
func (s *Sink) openAll(p *part) error {
	for _, def := range kindTables {
		if def.Name != "" && p.files[def.Name] == 0 {
			if _, err := s.open(p, def); err != nil {
				return err
			}
		}
	}
	return nil
}

// finish writes the tables that a part's rows refer to, after its last process.
func (s *Sink) finish(p *part) error {
	if p.finished {
		return nil
	}
	p.finished = true
	if err := s.openAll(p); err != nil {
		return err
	}
	closed := s.closeTables(p)
	for _, write := range []func(*part) error{s.writeProcesses, s.writeAttributes, s.writeClocks, s.writeTracks, s.writeEvents, s.writeCode} {
		if err := write(p); err != nil {
			return errors.Join(err, closed())
		}
	}
	p.stacks = nil
	return closed()
}

// fill writes a whole table.
func (s *Sink) fill(p *part, def Definition, rows func(*table)) error {
	t, err := s.create(p, def.Name, def)
	if err != nil {
		return err
	}
	rows(t)
	return t.close()
}

// use notes that rows refer to stacks of all in a tree.
func (p *part) use(stacks []stream.StackID, of *tree) {
	if p.stacks == nil && len(stacks) > 0 {
		p.stacks = newBits(len(of.stacks))
	}
	for _, id := range stacks {
		p.stacks.set(int(of.number[id]))
	}
}
