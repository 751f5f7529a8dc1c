package pprof

import (
	"encoding/binary"

	"gprof/convert/internal/totals"
	"gprof/stream"
)

// track writes the samples of a track.
func (s *Sink) track(process stream.ProcessID, track stream.TrackID, sums []totals.Total) {
	s.label(process, track)
	for _, sum := range sums {
		if sum.Weight != 0 || sum.CPU != 0 {
			s.sample(sum)
		}
	}
}

func (s *Sink) sample(sum totals.Total) {
	s.ids = s.locations.appendStack(s.ids[:0], sum.Stack)
	s.values = binary.AppendUvarint(s.values[:0], uint64(sum.Weight))
	s.values = binary.AppendUvarint(s.values, uint64(sum.CPU))
	body := s.body[:0]
	if len(s.ids) > 0 {
		body = appendBytes(body, sampleLocations, s.ids)
	}
	body = appendBytes(body, sampleValues, s.values)
	s.message(profileSample, append(body, s.labels...))
}

// label makes the labels of a track's samples.
func (s *Sink) label(process stream.ProcessID, track stream.TrackID) {
	p := s.tables.Process(process)
	s.labels = s.labels[:0]
	s.appendLabel("process", p.Title())
	s.appendLabel("instance", totals.Instance(p))
	s.appendLabel("track", s.tables.Tracks.At(track).Name)
}

// appendLabel appends a label, unless it says nothing.
func (s *Sink) appendLabel(key, value string) {
	if value == "" {
		return
	}
	body := appendNumber(s.body[:0], labelKey, s.texts.number(key))
	body = appendNumber(body, labelText, s.texts.number(value))
	s.labels = appendBytes(s.labels, sampleLabel, body)
	s.body = body
}
