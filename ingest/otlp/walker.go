package otlp

import (
	"encoding/binary"
	"io"

	"gprof/ingest/internal/messages"
	"gprof/rawformat/otlpproto"
	"gprof/rawformat/protobuf"
)

// walker reads a file message by message: those inside which the samples are, field by field.
type walker struct {
	fields
	path     [3]int // fields of the messages that are being read
	resource int    // number of the resource that is being read, from 0; below 0 before the first
	profile  int    // likewise of the profile, in the file

	only int // the profile whose fields are wanted, or all, or none
}

// fields gives the fields of a message one by one: of protobuf, as [messages.Reader] says, or of JSON.
type fields interface {
	Read() (*protobuf.Field, error)
	Offset() int64
	Depth() int
	Ended(depth int) bool
}

// What a walker may read instead of one profile.
const (
	none = -1 // and no resource
	all  = -2
)

// maxField bounds a field in bytes: a sample with a million times takes a tenth of it.
const maxField = 256 << 20

// walk returns a walker of a message.
func walk(in io.Reader, only int) *walker {
	r := messages.New(in)
	w := &walker{fields: r, resource: -1, profile: -1, only: only}
	r.Max, r.Way = maxField, w.way
	return w
}

// walkText returns a walker of a message that is JSON.
func walkText(m *message, only int) *walker {
	w := &walker{fields: m, resource: -1, profile: -1, only: only}
	m.way = w.way
	return w
}

func (w *walker) way(depth, number int) messages.Way {
	way := w.wayOf(depth, number)
	if way == messages.Inner {
		w.path[depth] = number
	}
	return way
}

func (w *walker) wayOf(depth, number int) messages.Way {
	switch {
	case depth == 0 && number == otlpproto.DataResource:
		w.resource++
		if w.only == none {
			return messages.Past
		}
		return messages.Inner
	case depth == 0 && number == otlpproto.DataDictionary:
		if w.only >= 0 {
			return messages.Past
		}
		return messages.Inner
	case depth == 0:
		return messages.Past // of a later version
	case w.path[0] == otlpproto.DataDictionary:
		return messages.Whole
	case depth == 1 && number == otlpproto.ResourceProfilesScope:
		return messages.Inner
	case depth == 2 && number == otlpproto.ScopeProfilesProfile:
		w.profile++
		if w.only >= 0 && w.only != w.profile {
			return messages.Past
		}
		return messages.Inner
	case depth == 3 && number == otlpproto.ProfileOriginal:
		return messages.Past
	}
	return messages.Whole
}

// message is the type of message that a field belongs to which was read last.
func (w *walker) message() otlpproto.Type {
	switch depth := w.Depth(); {
	case depth == 0:
		return otlpproto.Data
	case w.path[0] == otlpproto.DataDictionary:
		return otlpproto.Dictionary
	case depth == 1:
		return otlpproto.ResourceProfiles
	case depth == 2:
		return otlpproto.ScopeProfiles
	}
	return otlpproto.Profile
}

// sample is one of a profile.
type sample struct {
	stack, link uint64
	attributes  []uint64
	values      []uint64
	times       []uint64 // ns since the Unix epoch

	identity []byte // all fields but its values
}

// parse parses a sample. It is not ok if that is damaged or has no value, or not as many values as times.
func (s *sample) parse(message []byte) (ok bool) {
	*s = sample{attributes: s.attributes[:0], values: s.values[:0], times: s.times[:0], identity: s.identity[:0]}
	ok = true
	m := protobuf.Message{Rest: message}
	for v, more := m.Read(); more; v, more = m.Read() {
		whole := true
		switch v.Number {
		case otlpproto.SampleStack:
			s.stack = v.Value
		case otlpproto.SampleLink:
			s.link = v.Value
		case otlpproto.SampleAttributes:
			s.attributes, whole = v.Numbers(s.attributes, maxAttributes)
		case otlpproto.SampleValues:
			s.values, whole = v.Numbers(s.values, maxField)
		case otlpproto.SampleTimes:
			s.times, whole = v.Fixed64s(s.times)
		}
		ok = ok && whole
		if v.Number != otlpproto.SampleValues {
			s.identity = binary.AppendUvarint(binary.AppendUvarint(s.identity, uint64(v.Number)), v.Value)
			s.identity = append(s.identity, v.Bytes...)
		}
	}
	n := max(len(s.values), len(s.times))
	return ok && !m.Bad && n > 0 && (len(s.values) == n || len(s.values) == 0) && (len(s.times) == n || len(s.times) == 0)
}

// maxAttributes bounds the attributes of a sample.
const maxAttributes = 1 << 10

// len is how many values there are; a time without one counts as 1.
func (s *sample) len() int { return max(len(s.values), len(s.times)) }

func (s *sample) value(i int) int64 {
	if len(s.values) == 0 {
		return 1
	}
	return int64(s.values[i])
}
