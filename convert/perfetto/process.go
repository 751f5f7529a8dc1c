package perfetto

import (
	"fmt"

	"gprof/convert/internal/timeline"
	pb "gprof/rawformat/perfettoproto"
	"gprof/rawformat/protobuf"
	"gprof/stream"
	"gprof/stream/wording"
)

// addPauses collects the pauses of the recording.
func (s *Sink) addPauses(b *stream.Batch) {
	s.partLanes("pauses")
	for i := range b.Time {
		s.collectPart(b, i, timeline.PauseName(b.Value[i]), uint64(b.Value[i]), nil)
	}
}

// addPages collects the pages that were open.
func (s *Sink) addPages(b *stream.Batch) {
	s.partLanes("pages")
	for i := range b.Time {
		var arguments []byte
		for k, field := range stream.PageFields {
			f := stream.EventField{Name: field}
			arguments = s.appendArgument(arguments, s.names.number(pb.InternedAnnotationName, field), &f, &b.Args[k], i)
		}
		name, window := timeline.PageName(b, i)
		s.collectPart(b, i, name, window, arguments)
	}
}

// partLanes are the lanes of a kind of rows of the process.
func (s *Sink) partLanes(name string) {
	if s.lanes == nil {
		s.lanes = s.newLanes(s.places.process, s.child(s.places.process, name), name)
	}
}

// collectPart adds row i to the marks.
func (s *Sink) collectPart(b *stream.Batch, i int, name string, match uint64, arguments []byte) {
	s.marks.Begin(b.Series)
	m := timeline.MarkAt(b, i)
	m.Match = match
	body := protobuf.AppendNumber(nil, pb.EventCategory, s.names.number(pb.InternedCategory, b.Series.Kind.String()))
	m.Body = append(protobuf.AppendBytes(body, pb.EventName, clean(name)), arguments...)
	s.marks.Add(&m)
}

// logPriorities are Perfetto's levels.
var logPriorities = []uint64{stream.LogInfo: pb.LogInfo, stream.LogWarn: pb.LogWarn, stream.LogError: pb.LogError}

// addLogs writes messages as instants below the main thread, which are in Perfetto's log as well.
func (s *Sink) addLogs(b *stream.Batch) {
	track := s.part(s.places.main, "log")
	for i, at := range b.Time {
		text := ""
		if c := &b.Args[0]; c.TypeAt(i).Textual() {
			text = string(c.TextAt(i))
		}
		priority := uint64(pb.LogInfo)
		if n := b.Value[i]; 0 <= n && int(n) < len(logPriorities) {
			priority = logPriorities[n]
		}
		s.logs++
		s.internText(pb.InternedLogBody, s.logs, text)
		event := appendNumbers(s.event[:0], pb.EventType, pb.Instant, pb.EventTrack, track, pb.EventCategory, s.names.number(pb.InternedCategory, "log"))
		event = protobuf.AppendBytes(event, pb.EventName, clean(text))
		s.event = appendMessage(event, pb.EventLog, pb.LogBody, s.logs, pb.LogPriority, priority)
		s.write(at, pb.PacketTrackEvent, s.event)
	}
}

// writeRecordings writes what is known of each process, and what is missing from its recording, as a slice over the time of the
// recording. It comes last, as only then all is known.
func (s *Sink) writeRecordings() {
	lines := s.lost.Lines()
	for i := range s.tables.Processes {
		id := stream.ProcessID(i + 1)
		p := s.tables.Process(id)
		event := appendNumbers(nil, pb.EventType, pb.SliceBegin, pb.EventTrack, s.recordings[i])
		event = protobuf.AppendNumber(event, pb.EventCategory, s.names.number(pb.InternedCategory, "gprof"))
		event = protobuf.AppendBytes(event, pb.EventName, "recording")
		for _, a := range timeline.About(p) {
			event = protobuf.AppendBytes(event, pb.EventAnnotation, annotated(a.Key, a.Value))
		}
		if len(lines[id]) > 0 {
			missing := protobuf.AppendBytes(nil, pb.AnnotationName, "ledger")
			for _, line := range lines[id] {
				missing = protobuf.AppendBytes(missing, pb.AnnotationArray, annotated("", lineOf(line)))
			}
			event = protobuf.AppendBytes(event, pb.EventAnnotation, missing)
		}
		s.write(p.Start, pb.PacketTrackEvent, event)
		s.write(max(p.Start, p.End), pb.PacketTrackEvent, appendNumbers(nil, pb.EventType, pb.SliceEnd, pb.EventTrack, s.recordings[i]))
	}
	s.flush()
}

// annotated is an argument that is a text.
func annotated(name, value string) (body []byte) {
	if name != "" {
		body = protobuf.AppendBytes(nil, pb.AnnotationName, clean(name))
	}
	return protobuf.AppendBytes(body, pb.AnnotationString, clean(value))
}

// lineOf is a line of the ledger for people.
func lineOf(l stream.Line) string {
	text := fmt.Sprintf("%s: %d %s", wording.Reason(l.Reason), l.Count, l.What)
	if l.Where != "" {
		text += " (" + l.Where + ")"
	}
	return text
}
