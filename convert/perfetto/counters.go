package perfetto

import (
	"math"

	pb "gprof/rawformat/perfettoproto"
	"gprof/rawformat/protobuf"
	"gprof/stream"
)

// counterKey is what a counter of a process counts: a counter of the tables, or a name that is ours.
type counterKey struct {
	id   stream.CounterID
	name string
}

// counterTrack is the track of a counter.
type counterTrack struct{ values, numbers uint64 } // 0 if there is none yet

// units are the units of counters that Perfetto has numbers for.
var units = map[stream.Format]uint64{
	stream.FormatInteger: pb.UnitCount, stream.FormatBytes: pb.UnitBytes, stream.FormatNanoseconds: pb.UnitNanoseconds,
}

// unitNames are those of others.
var unitNames = map[stream.Format]string{stream.FormatPicowatt: "pWh", stream.FormatPercentage: "ratio"}

// count writes a value of a counter.
func (s *Sink) count(at stream.Time, track uint64, value int64) {
	event := appendNumbers(s.event[:0], pb.EventType, pb.Counter, pb.EventTrack, track)
	s.event = protobuf.AppendValue(event, pb.EventCounterValue, uint64(value))
	s.write(at, pb.PacketTrackEvent, s.event)
}

// describeCounter describes the track of a counter.
func (s *Sink) describeCounter(parent uint64, name, description string, unit stream.Format) uint64 {
	var counter []byte
	if number, ok := units[unit]; ok {
		counter = protobuf.AppendNumber(nil, pb.CounterUnit, number)
	} else if name, ok := unitNames[unit]; ok {
		counter = protobuf.AppendBytes(nil, pb.CounterUnitName, name)
	}
	more := protobuf.AppendBytes(nil, pb.TrackCounter, counter)
	if description != "" {
		more = protobuf.AppendBytes(more, pb.TrackDescription, clean(description))
	}
	return s.child(parent, name, more...)
}

// addCounts writes the values of a counter, and the numbers of operations that led to them on a track of their own.
func (s *Sink) addCounts(b *stream.Batch) {
	key := counterKey{id: b.Series.Counter}
	at, known := s.counts[key]
	of := s.tables.Counters.At(b.Series.Counter)
	if !known {
		at.values = s.describeCounter(s.places.process, of.Name, of.Description, of.Unit)
	}
	for i, when := range b.Time {
		s.count(when, at.values, b.Value[i])
		if b.Number[i] != 0 && at.numbers == 0 {
			at.numbers = s.describeCounter(s.places.process, of.Name+": operations", "", stream.FormatInteger)
		}
		if at.numbers != 0 {
			s.count(when, at.numbers, b.Number[i])
		}
	}
	s.counts[key] = at
}

// named is the track of a counter that has its name from us.
func (s *Sink) named(parent uint64, name string, unit stream.Format) uint64 {
	key := counterKey{name: name}
	at, known := s.counts[key]
	if !known {
		at.values = s.describeCounter(parent, name, "", unit)
		s.counts[key] = at
	}
	return at.values
}

// addDelays writes how long work had waited, as a counter below the thread.
func (s *Sink) addDelays(b *stream.Batch) {
	track := s.named(s.thread.uuid, "delay", stream.FormatNanoseconds)
	for i, at := range b.Time {
		s.count(at, track, b.Value[i])
	}
}

// addOverheads writes the recorder's own cost, as counters.
func (s *Sink) addOverheads(b *stream.Batch) {
	for k, field := range stream.OverheadFields {
		unit := stream.FormatNanoseconds
		if field == "samples" {
			unit = stream.FormatInteger
		}
		track := s.named(s.places.process, "recorder: "+field, unit)
		for i, at := range b.Time {
			if typ := b.Args[k].TypeAt(i); typ == stream.Int || typ == stream.Uint {
				s.count(at, track, int64(min(b.Args[k].BitsAt(i), math.MaxInt64)))
			}
		}
	}
}
