package otlp

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/maphash"
	"io"
	"math"
	"slices"

	"gprof/ingest/internal/damage"
	"gprof/rawformat/otlpproto"
	"gprof/rawformat/protobuf"
	"gprof/stream"
)

// survey is what is found of a file on opening.
type survey struct {
	dictionary dictionary
	resources  []*resource
	size       int64 // up to which the file is intact
	instance   uint64
	newer      int64 // fields of a later version
	originals  int64 // profiles with the data that they were made of

	digest   hash.Hash
	seed     maphash.Seed
	identity maphash.Hash // of the samples of the last profile
	sample   sample
}

// resource is one in a file: a process.
type resource struct {
	message  []byte   // of its attributes
	scopes   [][]byte // that differ
	profiles []*profile
	groups   []group
}

// profile is one in a file: samples with values of one type.
type profile struct {
	number         int // in the file, from 0
	typ, period    [2]uint64
	every          int64 // the period
	time, duration int64 // ns, 0 unknown
	attributes     []uint64
	samples        int64
	untimed        int64 // samples without times
	first, last    int64 // times of samples, if there are any
	timed          bool
	identity       uint64 // of its samples
}

// group is profiles that have the same samples.
type group struct {
	profiles []*profile
	types    []stream.ValueType
	period   stream.ValueType
}

// Limits of what is kept of a file.
const (
	maxResources = 1 << 16
	maxProfiles  = 1 << 18
	maxScopes    = 16 // of a resource
	maxTypes     = 64 // profiles that are read together
)

// scan reads a message. If it returns an error, the message is intact up to there.
func scan(in io.Reader) (*survey, error) {
	digest := sha256.New()
	s := &survey{seed: maphash.MakeSeed(), digest: digest}
	return s.scan(walk(io.TeeReader(in, digest), all), func(*walker, *protobuf.Field) {})
}

// scanText is scan for a message that is JSON. It doesn't matter to its instance how that is laid out.
func scanText(m *message) (*survey, error) {
	s := &survey{seed: maphash.MakeSeed(), digest: sha256.New()}
	var head [12]byte
	all, err := s.scan(walkText(m, all), func(w *walker, v *protobuf.Field) {
		binary.LittleEndian.PutUint32(head[:], uint32(w.Depth()<<8|v.Number))
		binary.LittleEndian.PutUint64(head[4:], max(v.Value, uint64(len(v.Bytes))))
		s.digest.Write(head[:])
		s.digest.Write(v.Bytes)
	})
	s.newer += m.later
	return all, err
}

// scan is scan for a walker, which calls seen for each field.
func (s *survey) scan(w *walker, seen func(*walker, *protobuf.Field)) (*survey, error) {
	var err error
	for err == nil {
		var v *protobuf.Field
		if v, err = w.Read(); err == nil {
			seen(w, v)
			err = s.field(w, v)
		}
	}
	s.size = w.Offset()
	s.instance = max(1, binary.BigEndian.Uint64(s.digest.Sum(nil)))
	s.endProfile()
	samples := s.group()
	switch {
	case err != io.EOF:
		if samples > 0 && len(s.dictionary.tables[otlpproto.DictionaryStack]) == 0 {
			return nil, fmt.Errorf("it ends before its tables: %w", err)
		}
		return s, err
	case samples > 0 && len(s.dictionary.tables[otlpproto.DictionaryStack]) == 0:
		return nil, fmt.Errorf("%w of the state that this program knows (opentelemetry-proto 1.11): it has samples, but no table of stacks; convert it by a collector of that time", ErrProfile)
	}
	return s, nil
}

// field takes a field of the file.
func (s *survey) field(w *walker, v *protobuf.Field) error {
	typ := w.message()
	f := typ.ByNumber(v.Number)
	if f == nil {
		s.newer++
		return nil
	}
	if !f.Has(v.Wire) {
		return &damage.Error{Off: w.Offset(), Err: fmt.Errorf("%w: %s has another type than in OpenTelemetry's profiles", damage.ErrDamaged, f.Name)}
	}
	switch typ {
	case otlpproto.Data:
		s.endProfile()
		if w.resource >= maxResources {
			return &damage.Error{Off: w.Offset(), Err: fmt.Errorf("%w: more than %d resources", damage.ErrTooBig, maxResources)}
		}
		if v.Number == otlpproto.DataResource {
			s.resources = append(s.resources, &resource{})
		}
	case otlpproto.Dictionary:
		return s.dictionary.add(v, w.Offset())
	case otlpproto.ResourceProfiles:
		if v.Number == otlpproto.ResourceProfilesResource {
			s.resource().message = bytes.Clone(v.Bytes)
		}
	case otlpproto.ScopeProfiles:
		if w.profile >= maxProfiles {
			return &damage.Error{Off: w.Offset(), Err: fmt.Errorf("%w: more than %d profiles", damage.ErrTooBig, maxProfiles)}
		}
		s.scope(w, v)
	case otlpproto.Profile:
		s.ofProfile(v)
	}
	return nil
}

// resource is the last one.
func (s *survey) resource() *resource { return s.resources[len(s.resources)-1] }

func (s *survey) scope(w *walker, v *protobuf.Field) {
	r := s.resource()
	switch v.Number {
	case otlpproto.ScopeProfilesScope:
		if len(r.scopes) < maxScopes && !slices.ContainsFunc(r.scopes, func(known []byte) bool { return bytes.Equal(known, v.Bytes) }) {
			r.scopes = append(r.scopes, bytes.Clone(v.Bytes))
		}
	case otlpproto.ScopeProfilesProfile:
		s.endProfile()
		r.profiles = append(r.profiles, &profile{number: w.profile})
		s.identity.SetSeed(s.seed)
	}
}

// last is the profile that is being read; nil: none.
func (s *survey) last() *profile {
	if len(s.resources) == 0 || len(s.resource().profiles) == 0 {
		return nil
	}
	return s.resource().profiles[len(s.resource().profiles)-1]
}

// endProfile notes what the last profile's samples are; again does no harm.
func (s *survey) endProfile() {
	if p := s.last(); p != nil && p.identity == 0 {
		p.identity = max(1, s.identity.Sum64())
	}
}

func (s *survey) ofProfile(v *protobuf.Field) {
	p := s.last()
	switch v.Number {
	case otlpproto.ProfileType:
		p.typ = pair(v.Bytes)
	case otlpproto.ProfileSample:
		s.see(p, v.Bytes)
	case otlpproto.ProfileTime:
		p.time = int64(min(v.Value, math.MaxInt64))
	case otlpproto.ProfileDuration:
		p.duration = int64(min(v.Value, math.MaxInt64-uint64(p.time)))
	case otlpproto.ProfilePeriodType:
		p.period = pair(v.Bytes)
	case otlpproto.ProfilePeriod:
		p.every = int64(v.Value)
	case otlpproto.ProfileAttributes:
		p.attributes, _ = v.Numbers(p.attributes, maxAttributes)
	case otlpproto.ProfileOriginal:
		s.originals++
	}
}

// pair parses a ValueType: the numbers of its name and unit.
func pair(message []byte) [2]uint64 {
	var n protobuf.Numbers
	n.Read(message)
	return [2]uint64{n[otlpproto.TypeName], n[otlpproto.TypeUnit]}
}

// see notes a sample. One that is malformed is one, too.
func (s *survey) see(p *profile, message []byte) {
	ok := s.sample.parse(message)
	p.samples++
	if !ok {
		s.identity.WriteByte(0)
		return
	}
	if len(s.sample.times) == 0 {
		p.untimed++
	}
	for _, at := range s.sample.times {
		at := int64(min(at, math.MaxInt64))
		if !p.timed {
			p.first, p.last, p.timed = at, at, true
		}
		p.first, p.last = min(p.first, at), max(p.last, at)
	}
	var n [8]byte
	binary.LittleEndian.PutUint64(n[:], uint64(s.sample.len())<<32|uint64(len(s.sample.identity)))
	s.identity.Write(n[:])
	s.identity.Write(s.sample.identity)
}

// ErrProfile says that a file is none of OpenTelemetry's profiles, or of another state of the
// specification. Other errors are those of package damage.
var ErrProfile = errors.New("not OpenTelemetry's profiles")

// group finds the profiles that are read together, when the names of their values are known, and counts
// all samples.
func (s *survey) group() (samples int64) {
	for _, r := range s.resources {
		for _, p := range r.profiles {
			samples += p.samples
			last := len(r.groups) - 1
			if last < 0 || !s.together(&r.groups[last], p) {
				r.groups = append(r.groups, group{period: s.typeOf(p.period)})
				last++
			}
			g := &r.groups[last]
			g.profiles, g.types = append(g.profiles, p), append(g.types, s.typeOf(p.typ))
			if p.every > 0 && g.profiles[0].every == 0 {
				g.profiles[0].every, g.period = p.every, s.typeOf(p.period)
			}
		}
	}
	return samples
}

// together reports whether a profile has the samples of a group, and values of a type of their own.
func (s *survey) together(g *group, p *profile) bool {
	first := g.profiles[0]
	return p.samples == first.samples && p.identity == first.identity && p.time == first.time && p.duration == first.duration &&
		len(g.profiles) < maxTypes && !slices.Contains(g.types, s.typeOf(p.typ))
}

func (s *survey) typeOf(numbers [2]uint64) stream.ValueType {
	return stream.ValueType{Name: s.dictionary.text(numbers[0]), Unit: s.dictionary.text(numbers[1])}
}
