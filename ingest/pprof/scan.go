package pprof

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"gprof/ingest/internal/damage"
	"gprof/ingest/internal/messages"
	"gprof/ingest/internal/values"
	"gprof/rawformat/profileproto"
	"gprof/rawformat/protobuf"
	"gprof/stream"
)

// Limits of what is kept of a file.
const (
	maxTypes    = 256      // values of a sample
	maxComments = 64 << 10 // bytes, of all together
)

// header is what is known of an open file.
type header struct {
	instance uint64 // hash of the contents
	size     int64  // bytes, decompressed, up to which it is intact
	timing
	counts [len(fieldWires)]int64 // messages by field

	types      []stream.ValueType
	period     int64
	periodType stream.ValueType
	endless    int64 // 1: the duration makes no sense
	program    string
	mappings   []mappingRow
	chosen     string // default sample type
	attributes []attribute
	untold     int64 // comments beyond the limit
	sum        sumNotes
}

// timing is what is known of when samples were.
type timing struct {
	samples  int64
	time     int64 // ns since the Unix epoch, 0 unknown
	duration int64 // ns
}

// end is the end of the profile.
func (t *timing) end() stream.Time {
	if t.duration > math.MaxInt64-t.time {
		return math.MaxInt64
	}
	return stream.Time(t.time + t.duration)
}

// moment is when sample i is said to have been.
func (t *timing) moment(i uint64) stream.Time {
	return values.Spread(t.end()-stream.Time(t.duration), t.duration, i, uint64(t.samples))
}

type attribute struct{ key, value string }

// mappingRow is a mapping in a file.
type mappingRow struct {
	start, limit, offset uint64
	file, build          string
	names                stream.MappingNames
	madeUp               bool // its addresses are
}

const maxMapped = 1 << 12

// scan reads the header of a file. If it returns a header and an error, the file is intact up to
// there.
func scan(r io.Reader) (*header, error) {
	digest := sha256.New()
	s := scanner{fields: messages.New(io.TeeReader(r, digest)), tables: new(tables)}
	err := s.scan()
	s.h.instance = max(1, binary.BigEndian.Uint64(digest.Sum(nil)))
	return s.resolve(err)
}

// scanner scans a file once. Strings may come before or after their users.
type scanner struct {
	fields  *messages.Reader
	tables  *tables
	all     bool     // also scan for all tables, and positions of samples
	samples []extent // their messages, in the file
	h       header

	types    [][2]uint64 // as numbers of strings
	period   [2]uint64
	mapped   []protobuf.Numbers
	comments []uint64
	// the rest by field
	chosen, drop, keep, doc uint64
}

// scan reads all fields, up to the end or an error.
func (s *scanner) scan() (err error) {
	for err == nil {
		var v *protobuf.Field
		if v, err = s.fields.Read(); err == nil {
			err = s.field(v)
		}
	}
	s.h.size = s.fields.Offset()
	s.h.samples = s.h.counts[profileproto.ProfileSample]
	if err == io.EOF {
		return nil
	}
	return err
}

func (s *scanner) field(v *protobuf.Field) error {
	if !known(v) {
		return nil // of a later version
	}
	s.h.counts[v.Number]++
	if s.all || v.Number == profileproto.ProfileString {
		if err := s.tables.read(v, s.fields.Offset()); err != nil {
			return err
		}
	}
	switch v.Number {
	case profileproto.ProfileSample:
		if end := s.fields.Offset(); s.all {
			s.samples = append(s.samples, extent{uint32(end) - uint32(len(v.Bytes)), uint32(end)})
		}
	case profileproto.ProfileSampleType:
		if len(s.types) == maxTypes {
			return &damage.Error{Off: s.fields.Offset(), Err: fmt.Errorf("%w: samples of more than %d values", damage.ErrTooBig, maxTypes)}
		}
		s.types = append(s.types, pair(v.Bytes))
	case profileproto.ProfilePeriodType:
		s.period = pair(v.Bytes)
	case profileproto.ProfileMapping:
		s.mapping(v.Bytes)
	case profileproto.ProfileComment:
		var ok bool
		if s.comments, ok = v.Numbers(s.comments, maxComments); !ok {
			s.h.untold++
		}
	default:
		s.number(v)
	}
	return nil
}

func (s *scanner) number(v *protobuf.Field) {
	switch v.Number {
	case profileproto.ProfileTime:
		s.h.time = int64(v.Value)
	case profileproto.ProfileDuration:
		s.h.duration = int64(v.Value)
	case profileproto.ProfilePeriod:
		s.h.period = int64(v.Value)
	case profileproto.ProfileDefaultType:
		s.chosen = v.Value
	case profileproto.ProfileDrop:
		s.drop = v.Value
	case profileproto.ProfileKeep:
		s.keep = v.Value
	case profileproto.ProfileDoc:
		s.doc = v.Value
	}
}

// pair parses the type of a value.
func pair(body []byte) [2]uint64 {
	var n protobuf.Numbers
	n.Read(body)
	return [2]uint64{n[profileproto.ValueType], n[profileproto.ValueUnit]}
}

func (s *scanner) mapping(body []byte) {
	if len(s.mapped) == maxMapped {
		return
	}
	var n protobuf.Numbers
	n.Read(body)
	s.mapped = append(s.mapped, n)
}

// resolveMappings resolves the strings of mappings. The first one is the program.
func (s *scanner) resolveMappings() {
	for _, n := range s.mapped {
		m := mappingRow{madeUp: s.h.sum.madeUp[n[profileproto.MappingID]], start: n[profileproto.MappingStart], limit: n[profileproto.MappingLimit], offset: n[profileproto.MappingOffset],
			file: s.text(n[profileproto.MappingFile]), build: s.text(n[profileproto.MappingBuild])}
		for i, has := range []int{profileproto.MappingHasFunctions, profileproto.MappingHasFiles, profileproto.MappingHasLines, profileproto.MappingHasInlined} {
			if n[has] != 0 {
				m.names |= stream.NamesFunctions << i
			}
		}
		s.h.mappings = append(s.h.mappings, m)
	}
	if len(s.h.mappings) > 0 {
		program := slices.IndexFunc(s.mapped, func(n protobuf.Numbers) bool { return s.h.sum.isSum && n[profileproto.MappingID] == s.h.sum.program })
		s.h.program = s.h.mappings[max(0, program)].file
	}
}

// resolve resolves strings; err is what ended the scan. There is no header if the types of the
// values are unknown.
func (s *scanner) resolve(err error) (*header, error) {
	if bad := s.resolveTypes(); bad != nil {
		return nil, errors.Join(err, &damage.Error{Off: s.h.size, Err: bad})
	}
	s.h.periodType = s.name(s.period)
	s.comments = slices.DeleteFunc(s.comments, func(n uint64) bool { return s.h.sum.note(s.text(n)) })
	s.resolveMappings()
	s.h.time, s.h.duration = max(0, s.h.time), max(0, s.h.duration)
	s.h.checkDuration()
	s.attributes()
	h := s.h // the scanner goes
	return &h, err
}

// year is longer than anything is profiled, in ns.
const year = 366 * 24 * 3600 * 1_000_000_000

// checkDuration drops a duration that reaches back to 1970: some writers, such as Pyroscope's for
// JFR, put a time of day there. A profile whose clock began lately has such a duration, too, but a
// short one.
func (h *header) checkDuration() {
	if h.time > 0 && h.duration >= h.time && h.duration > year {
		h.duration, h.endless = 0, 1
	}
}

func (s *scanner) resolveTypes() error {
	if len(s.types) == 0 {
		return fmt.Errorf("%w: it does not say what its values are", ErrProfile)
	}
	for _, p := range s.types {
		for _, n := range p {
			if _, ok := s.tables.texts.get(n); !ok {
				return fmt.Errorf("%w: the names of its values are not there", ErrProfile)
			}
		}
		s.h.types = append(s.h.types, s.name(p))
	}
	return nil
}

func (s *scanner) text(n uint64) string { return s.tables.texts.text(n) }

func (s *scanner) name(p [2]uint64) stream.ValueType {
	return stream.ValueType{Name: s.text(p[0]), Unit: s.text(p[1])}
}

// attributes collects what has no other place.
func (s *scanner) attributes() {
	add := func(key, value string) {
		if value != "" {
			s.h.attributes = append(s.h.attributes, attribute{key, value})
		}
	}
	s.h.chosen = s.text(s.chosen)
	add("default_sample_type", s.h.chosen)
	add("drop_frames", s.text(s.drop))
	add("keep_frames", s.text(s.keep))
	add("doc_url", s.text(s.doc))
	var comments []byte
	left := maxComments
	for _, n := range s.comments {
		text, _ := s.tables.texts.get(n)
		if len(text) >= left {
			s.h.untold++
			continue
		}
		left -= len(text) + 1
		if len(comments) > 0 {
			comments = append(comments, '\n')
		}
		comments = append(comments, text...)
	}
	add("comment", string(comments))
}
