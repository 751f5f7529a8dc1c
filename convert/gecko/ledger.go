package gecko

import (
	"strconv"

	"gprof/stream"
)

// lose counts what has no place in the format.
func (s *Sink) lose(what string, count int64) { s.loseOf(s.process, what, count) }

func (s *Sink) loseOf(id stream.ProcessID, what string, count int64) {
	s.lost.Add(stream.Line{Process: hex(s.of(id).Instance), Reason: stream.ReasonUnsupported, What: what, Count: count})
}

// settle waits for all pieces, and counts what they have lost.
func (s *Sink) settle() error {
	if err := s.out.Flush(); err != nil {
		return err
	}
	err := s.pipe.Wait()
	for id := range s.lostArguments {
		if n := s.lostArguments[id].Load(); n > 0 {
			s.loseOf(stream.ProcessID(id), "arguments", n)
		}
	}
	return err
}

// tell adds what was lost to the ledger of the tables, for whoever reports it.
func (s *Sink) tell() {
	for _, line := range s.lost.Lines() {
		s.tables.Ledger.Add(line)
	}
}

// writeLedger writes the ledger under the pids of the processes. What concerns
// no process of the profile stands under that of the first.
func (s *Sink) writeLedger() {
	home := make(map[string]stream.ProcessID)
	for i := range s.tables.Processes {
		home[hex(s.tables.Processes[i].Instance)] = stream.ProcessID(i + 1)
	}
	lines := make([][]stream.Line, max(1, len(s.tables.Processes))+1) // by ProcessID
	for _, line := range s.ledger() {
		id := max(1, home[line.Process])
		lines[id] = append(lines[id], line)
	}
	s.out.Key("profileGatheringLog")
	s.out.BeginObject()
	for id := 1; id < len(lines); id++ {
		if len(lines[id]) > 0 {
			s.writeLines(s.of(stream.ProcessID(id)), lines[id])
		}
	}
	s.out.EndObject()
}

// ledger is that of the source and what was lost here.
func (s *Sink) ledger() []stream.Line {
	var all stream.Ledger
	for _, line := range s.known {
		all.Add(line)
	}
	for _, line := range s.lost.Lines() {
		all.Add(line)
	}
	return all.Lines()
}

func (s *Sink) writeLines(p *stream.Process, lines []stream.Line) {
	s.out.Key(strconv.Itoa(p.OutPid))
	s.out.BeginObject()
	s.out.Key("ledger")
	s.out.BeginArray()
	for _, line := range lines {
		s.writeLine(line)
	}
	s.out.EndArray()
	s.out.EndObject()
}

func (s *Sink) writeLine(line stream.Line) {
	reason := stream.Reasons[line.Reason]
	s.out.BeginObject()
	s.member("process", line.Process)
	s.member("reason", reason.Name)
	s.member("severity", reason.Severity.String())
	s.member("text", reason.Text)
	s.member("what", line.What)
	s.member("where", line.Where)
	s.number("count", line.Count)
	s.number("bytes", line.Bytes)
	s.out.EndObject()
}
