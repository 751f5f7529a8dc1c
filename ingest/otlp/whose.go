package otlp

import (
	"encoding/binary"
	"fmt"
	"strings"

	"gprof/rawformat/otlpproto"
	"gprof/rawformat/protobuf"
	"gprof/stream"
)

// whose a sample is.
type whose struct {
	track stream.TrackID
	owner stream.Owner
}

// maxWhose bounds the cached ones, because attributes may differ each time.
const maxWhose = 1 << 14

// The attributes of samples that are not labels. Labels of the program that are called as one of the
// first two have another name in files of gprof's own.
const (
	keyTrack     = "thread.name"
	keyThread    = "thread.id"
	keyGoroutine = "goroutine"
	keyProgram   = "label."
)

// of is whose a sample is.
func (s *source) of(m *sample) whose {
	if len(m.attributes) == 0 && m.link == 0 {
		return whose{}
	}
	s.key = binary.AppendUvarint(s.key[:0], m.link)
	for _, n := range m.attributes {
		s.key = binary.AppendUvarint(s.key, n)
	}
	if w, ok := s.whose[string(s.key)]; ok {
		return w
	}
	if len(s.whose) == maxWhose {
		clear(s.whose)
	}
	w := s.find(m)
	s.whose[string(s.key)] = w
	return w
}

func (s *source) find(m *sample) (w whose) {
	known, undefined := s.dictionary.attributes(m.attributes)
	s.code.undefined += undefined
	var labels []stream.Attr
	track := stream.Track{Process: s.id(), Root: true}
	for _, a := range known {
		switch {
		case a.key == keyTrack:
			track.Name = a.text
		case a.key == keyThread && a.isNumber:
			track.Thread = a.number
		case a.key == keyGoroutine && a.isNumber && a.unit == "" && a.number > 0:
			w.owner.Goroutine = a.number
		default:
			labels = append(labels, s.label(a))
		}
	}
	w.owner.Span = s.link(m.link)
	if len(labels) > 0 {
		w.owner.Labels = s.tables.Labels.Intern(stream.NewLabelSet(labels...))
	}
	if track.Thread != 0 && track.Name == "" {
		track.Name = fmt.Sprintf("thread %d", track.Thread)
	}
	switch {
	case track.Name == "":
	case track.Thread == 0 && track.Name == s.tables.Process(track.Process).Name:
		w.track = s.tables.Tracks.Intern(stream.Track{Process: track.Process, Name: track.Name, Main: true})
	default:
		w.track = s.tables.Tracks.Intern(track)
	}
	return w
}

func (s *source) label(a attribute) stream.Attr {
	switch key, ok := strings.CutPrefix(a.key, keyProgram); {
	case ok && (key == keyTrack || key == keyGoroutine):
		a.key = key
	}
	s.tables.NoteLabel(a.key, a.isNumber)
	if a.isNumber && a.unit != "" {
		a.text += " " + a.unit
	}
	return stream.Attr{Key: a.key, Value: a.text}
}

// link is the span of a link. Ids of another length than theirs are none.
func (s *source) link(n uint64) (to stream.Span) {
	if n == 0 {
		return to
	}
	row, ok := s.code.row(otlpproto.DictionaryLink, n)
	if !ok {
		return to
	}
	var trace, span []byte
	m := protobuf.Message{Rest: row}
	for v, more := m.Read(); more; v, more = m.Read() {
		switch v.Number {
		case otlpproto.LinkTrace:
			trace = v.Bytes
		case otlpproto.LinkSpan:
			span = v.Bytes
		}
	}
	to, ok = stream.NewSpan(trace, span)
	if m.Bad || !ok {
		s.links++
		return stream.Span{}
	}
	return to
}
