package tables

import (
	"gprof/stream"
)

// numberTracks numbers the tracks in the order of their rows: by process, the main track first.
func numberTracks(t *stream.Tables) []int32 {
	byProcess := make([][]stream.TrackID, len(t.Processes)+1)
	for _, main := range []bool{true, false} {
		for id := stream.TrackID(1); int(id) <= t.Tracks.Len(); id++ {
			if track := t.Tracks.At(id); track.Main == main {
				byProcess[track.Process] = append(byProcess[track.Process], id)
			}
		}
	}
	numbers, next := make([]int32, t.Tracks.Len()+1), int32(1)
	for _, list := range byProcess {
		for _, id := range list {
			numbers[id] = next
			next++
		}
	}
	return numbers
}

func (s *Sink) writeTracks(p *part) error {
	order := make([]stream.TrackID, len(s.tracks))
	for id, n := range s.tracks {
		order[n] = stream.TrackID(id)
	}
	return s.fill(p, trackTable, func(t *table) {
		for _, id := range order {
			if id == 0 || s.partOf[s.tables.Tracks.At(id).Process] != p {
				continue
			}
			track := s.tables.Tracks.At(id)
			row := t.begin()
			row.column().string(p.name)
			row.column().short(int32(track.Process))
			row.column().short(s.tracks[id])
			s.put(row, track.Name)
			row.column().flag(track.Main)
			row.column().known(int64(track.Start), 0)
			row.column().known(int64(track.End), 0)
			row.end(1)
		}
	})
}

func (s *Sink) writeProcesses(p *part) error {
	return s.fill(p, processTable, func(t *table) {
		for _, id := range p.processes {
			row := t.begin()
			row.column().string(p.name)
			row.column().short(int32(id))
			s.writeProcess(row, s.tables.Process(id))
			row.end(1)
		}
	})
}

func (s *Sink) writeProcess(row *rows, p *stream.Process) {
	s.put(row, p.InstanceName())
	row.column().id(int32(p.Parent))
	if p.Parent == 0 {
		row.column().null()
	} else {
		s.put(row, s.tables.Process(p.Parent).InstanceName())
	}
	row.column().long(int64(p.Pid))
	for _, text := range []string{p.Name, p.Service, p.Version, p.Revision, p.Host, p.Exe} {
		s.put(row, text)
	}
	s.putTexts(row, p.Args)
	for _, text := range []string{p.Go, p.OS, p.Arch} {
		s.put(row, text)
	}
	for _, n := range []int64{int64(p.CPUs), p.MemoryLimit, int64(p.Start), int64(p.End)} {
		row.column().known(n, 0)
	}
	s.writeExit(row, &p.Exit)
	row.column().known(p.Interval, 0)
	s.put(row, p.CPU)
	row.column().known(int64(p.RangeStart), 0)
	s.putKnown(row, p.Module)
	row.column().flag(p.Modified)
	s.putTexts(row, p.SlowedBy)
	s.putKnown(row, p.CPUName)
	row.column().known(int64(p.Cores), 0)
	row.column().known(p.Settings.Limit, 0)
	s.putTexts(row, p.Settings.Features)
	s.putTexts(row, p.Settings.Tracks)
}

func (s *Sink) putTexts(row *rows, texts []string) {
	list := row.column()
	for _, text := range texts {
		list.append(s.bytes("", []byte(text)))
	}
	list.list()
}

func (s *Sink) writeExit(row *rows, e *stream.Exit) {
	if !e.Known {
		for range 3 {
			row.column().null()
		}
		return
	}
	s.put(row, e.Reason)
	if e.HasCode() {
		row.column().long(e.Code)
	} else {
		row.column().null()
	}
	s.put(row, e.Text)
}

func (s *Sink) writeAttributes(p *part) error {
	return s.fill(p, attributeTable, func(t *table) {
		for _, id := range p.processes {
			for _, a := range s.tables.Process(id).Attrs {
				row := t.begin()
				row.column().string(p.name)
				row.column().short(int32(id))
				s.put(row, a.Key)
				s.put(row, a.Value)
				row.end(1)
			}
		}
	})
}

// writeClocks writes how the times of each process were placed.
func (s *Sink) writeClocks(p *part) error {
	return s.fill(p, clockTable, func(t *table) {
		for _, id := range p.processes {
			process := s.tables.Process(id)
			row := t.begin()
			row.column().string(p.name)
			row.column().short(int32(id))
			s.put(row, process.InstanceName())
			s.writeClock(row, &process.Clock)
			row.end(1)
		}
	})
}

// writeClock writes how a clock was placed; nothing if it was not.
func (s *Sink) writeClock(row *rows, c *stream.Clock) {
	s.putKnown(row, c.By)
	s.putKnown(row, c.Boot)
	exact, pieces, uncertainty := row.column(), row.column(), row.column()
	if c.By == "" {
		exact.null()
		pieces.null()
		uncertainty.null()
	} else {
		exact.flag(c.Pieces == 1)
		pieces.long(int64(c.Pieces))
		uncertainty.known(c.Uncertainty, -1)
	}
	row.column().long(int64(c.Anchors))
	row.column().known(int64(c.First), 0)
	row.column().known(int64(c.Last), 0)
}
