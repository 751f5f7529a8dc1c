package perfetto

import (
	"gprof/convert/internal/timeline"
	pb "gprof/rawformat/perfettoproto"
	"gprof/stream"
)

// lanes are the tracks of Perfetto for one of ours. The first is its own; the others lie below it, have the same name, and
// are described when they are first needed.
type lanes struct {
	*timeline.Lanes
	uuids  []uint64
	parent uint64
	name   string
}

// types are the types of events.
var types = [...]uint64{timeline.Open: pb.SliceBegin, timeline.Close: pb.SliceEnd, timeline.Start: pb.SliceBegin, timeline.End: pb.SliceEnd, timeline.Instant: pb.Instant}

func (s *Sink) newLanes(parent, first uint64, name string) *lanes {
	l := &lanes{uuids: []uint64{first}, parent: parent, name: name}
	l.Lanes = timeline.NewLanes(func(e timeline.Event) { s.writeEvent(l, e) })
	return l
}

func (s *Sink) writeEvent(l *lanes, e timeline.Event) {
	if e.Lane == len(l.uuids) {
		l.uuids = append(l.uuids, s.child(l.parent, l.name))
	}
	event := appendNumbers(s.event[:0], pb.EventType, types[e.Kind], pb.EventTrack, l.uuids[e.Lane])
	s.event = append(event, e.Body...)
	s.write(e.At, pb.PacketTrackEvent, s.event)
}

// endLanes writes what was collected.
func (s *Sink) endLanes() {
	if s.lanes == nil {
		return
	}
	s.marks.Merge(s.lanes.Place)
	s.lanes.Finish()
	if n := s.lanes.Moved; n > 0 {
		s.lost.Add(s.process, stream.ReasonCut, "intervals that overlap too many others", n)
	}
	s.lanes = nil
}
