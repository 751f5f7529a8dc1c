package tables

import "gprof/stream"

// writeLosses writes the ledger: what the source knew, and what was lost here.
// What concerns no process of the run goes to the first part.
func (s *Sink) writeLosses(lost []stream.Line) error {
	var all stream.Ledger
	for _, line := range append(lost, s.known...) {
		all.Add(line)
	}
	home := map[string]*part{}
	for i := range s.tables.Processes {
		home[instance(s.tables.Processes[i].Instance)] = s.partOf[i+1]
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
	reason := stream.Reasons[line.Reason]
	row.column().string(p.name)
	s.putKnown(row, line.Process)
	s.put(row, reason.Name)
	s.put(row, reason.Severity.String())
	s.put(row, reason.Text)
	s.put(row, line.What)
	s.putKnown(row, line.Where)
	row.column().long(line.Count)
	row.column().long(line.Bytes)
	row.end(1)
}
