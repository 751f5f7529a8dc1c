package pprof

import (
	"encoding/binary"
	"time"

	"gprof/convert/internal/totals"
	"gprof/stream"
)

// sampleTypes are the values that each sample has, in the order in which sample
// writes them. Those of heap samples (inuse_space and the like) belong behind
// these, and then every sample has all of them: zeros where it is of another kind.
var sampleTypes = []struct{ name, unit string }{{"samples", "count"}, {"cpu", "nanoseconds"}}

// track writes the samples of a track, or of a bucket of time of one.
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
	if s.every > 0 {
		s.appendLabel("time", s.moment())
	}
}

// moment is the beginning of a bucket as text, in UTC: texts sort by it.
func (s *Sink) moment() string {
	format := "2006-01-02T15:04:05Z"
	if s.every%stream.Time(time.Second) != 0 {
		format = "2006-01-02T15:04:05.000000000Z"
	}
	return time.Unix(0, int64(s.totals.At)).UTC().Format(format)
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
