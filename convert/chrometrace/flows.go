package chrometrace

import (
	"encoding/binary"

	"gprof/convert/internal/timeline"
	"gprof/stream"
)

// maxFlows bounds the flows that are open at a time, whose ids are held in memory.
const maxFlows = 1 << 20

// keepFlows keeps the flows of an event until all that have the same have come. Only slices have them.
func (s *Sink) keepFlows(tid int64, e timeline.Event, flows []byte) {
	if len(flows) == 0 {
		return
	}
	if e.Kind == timeline.Instant || e.Kind == timeline.End {
		s.lost.Lose(s.process, "flows of instants and ends", int64(len(flows)/flowSize))
		return
	}
	s.flows.Begin(stream.Series{Process: s.process, Track: s.track})
	for ; len(flows) > 0; flows = flows[flowSize:] {
		m := timeline.Mark{Start: e.At, End: e.At, Owner: tid, Match: binary.LittleEndian.Uint64(flows)}
		if flows[8] != 0 {
			m.Phase = stream.PhaseEnd
		}
		m.Body = binary.LittleEndian.AppendUint64(nil, uint64(s.process))
		s.flows.Add(&m)
	}
}

// writeFlows writes where flows begin, go on and end, in the order of time.
func (s *Sink) writeFlows() {
	open := map[uint64]bool{}
	s.flows.Merge(func(m *timeline.Mark) {
		phase := byte('s')
		switch ends := m.Phase == stream.PhaseEnd; {
		case open[m.Match] && ends:
			phase = 'f'
			delete(open, m.Match)
		case open[m.Match]:
			phase = 't'
		case ends:
			return // it was nowhere else
		case len(open) == maxFlows:
			s.lost.Add(stream.ProcessID(binary.LittleEndian.Uint64(m.Body)), stream.ReasonCut, "flows beside too many others", 1)
			return
		default:
			open[m.Match] = true
		}
		s.pid = s.numbers.Pids[binary.LittleEndian.Uint64(m.Body)]
		event := append(s.at(phase, m.Owner, m.Start), `,"bp":"e","name":"flow","cat":"flow","id":"`...)
		s.end(append(appendHex(event, m.Match), '"'))
	})
}
