package pprof

import (
	"encoding/binary"
	"time"

	"gprof/convert/internal/totals"
	"gprof/rawformat/profileproto"
	"gprof/stream"
)

// The keys of labels of our own.
const (
	labelProcess   = "process"
	labelInstance  = "instance"
	labelTrack     = "track"
	labelGoroutine = "goroutine"
	labelTime      = "time"
)

// track writes the samples of a track, or of a bucket of time of one.
func (s *Sink) track(process stream.ProcessID, track stream.TrackID, all []totals.Total) {
	s.label(process, track)
	for i := range all {
		if i%together == 0 {
			s.locations.approach(all[i:min(i+together, len(all))])
		}
		if total := &all[i]; !total.Zero() {
			s.sample(total.Stack, total.Who, s.types.valuesOf(total, s.totals.Measure))
		}
	}
}

func (s *Sink) sample(stack stream.StackID, who stream.Who, values []int64) {
	ids := s.locations.encode(stack)
	s.values = s.values[:0]
	for _, v := range values {
		s.values = binary.AppendUvarint(s.values, uint64(v))
	}
	body := s.body[:0]
	if len(ids) > 0 {
		body = appendBytes(body, profileproto.SampleLocations, ids)
	}
	body = appendBytes(body, profileproto.SampleValues, s.values)
	s.message(profileproto.ProfileSample, s.appendWho(append(body, s.labels...), who))
}

// label makes the labels of a track's samples.
func (s *Sink) label(process stream.ProcessID, track stream.TrackID) {
	p := s.tables.Process(process)
	s.labels = s.labels[:0]
	if s.came.alone == nil { // else its labels are those that came
		s.appendLabel(labelProcess, p.Title())
		s.appendLabel(labelInstance, totals.Instance(p))
		s.appendLabel(labelTrack, s.tables.Tracks.At(track).Name)
	}
	if s.options.Every > 0 {
		s.appendLabel(labelTime, s.moment())
	}
}

// appendWho appends the labels of a goroutine and its work to a sample.
func (s *Sink) appendWho(body []byte, who stream.Who) []byte {
	if who.Goroutine != 0 {
		s.line = appendNumber(s.line[:0], profileproto.LabelKey, s.texts.number(labelGoroutine))
		s.line = appendNumber(s.line, profileproto.LabelNumber, uint64(who.Goroutine))
		body = appendBytes(body, profileproto.SampleLabel, s.line)
	}
	if who.Labels == 0 {
		return body
	}
	for key, value := range s.tables.Labels.At(who.Labels).All() {
		s.line = s.textLabel(s.line[:0], s.programKey(key), value)
		body = appendBytes(body, profileproto.SampleLabel, s.line)
	}
	return body
}

// programKey is what a label of the program is called.
func (s *Sink) programKey(key string) string {
	if s.came.alone != nil && (key != labelTime || s.options.Every == 0) {
		return key
	}
	switch key {
	case labelProcess, labelInstance, labelTrack, labelGoroutine, labelTime:
		return "label." + key
	}
	return key
}

// moment is the beginning of a bucket as text, in UTC: texts sort by it.
func (s *Sink) moment() string {
	format := "2006-01-02T15:04:05Z"
	if s.options.Every%stream.Time(time.Second) != 0 {
		format = "2006-01-02T15:04:05.000000000Z"
	}
	return time.Unix(0, int64(s.totals.At)).UTC().Format(format)
}

// appendLabel appends a label, unless it says nothing.
func (s *Sink) appendLabel(key, value string) {
	if value == "" {
		return
	}
	s.line = s.textLabel(s.line[:0], key, value)
	s.labels = appendBytes(s.labels, profileproto.SampleLabel, s.line)
}

// textLabel appends the fields of a label whose value is a text.
func (s *Sink) textLabel(dst []byte, key, value string) []byte {
	dst = appendNumber(dst, profileproto.LabelKey, s.texts.number(key))
	return appendNumber(dst, profileproto.LabelText, s.texts.number(value))
}
