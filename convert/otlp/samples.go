package otlp

import (
	"encoding/binary"
	"slices"

	"gprof/convert/internal/totals"
	"gprof/rawformat/otlpproto"
	"gprof/rawformat/protobuf"
	"gprof/stream"
)

// moments collects rows of one series that have times, by whose they are: those are one sample.
type moments struct {
	done   func(series stream.Series, all *moments)
	series stream.Series
	groups []group
	at     []int32            // by StackID: 1 + its first group, 0 none
	others map[groupKey]int32 // where further ones are
	rows   []moment           // those of a group are a list
}

// group is the rows of one stack and owner.
type group struct {
	groupKey
	first, last int32 // of rows
	n           int
}

type groupKey struct {
	stack stream.StackID
	owner stream.Owner
}

// moment is a row: a value of a measure or of waiting, or samples and their CPU time.
type moment struct {
	at         stream.Time
	value, cpu int64
	next       int32 // of its group, 0 none
}

// maxMoments bounds the rows that are collected. Those of a later part are samples of their own.
const maxMoments = 1 << 16

// newMoments returns the moments of an output of t. done is called for each part of a series.
func newMoments(t *stream.Tables, done func(stream.Series, *moments)) moments {
	return moments{done: done, at: make([]int32, t.Stacks.Len()+1), others: make(map[groupKey]int32)}
}

func (m *moments) add(b *stream.Batch) {
	if b.Series != m.series {
		m.finish()
		m.series = b.Series
	}
	for i, at := range b.Time {
		row := moment{at: at}
		if b.Series.Kind == stream.Samples {
			row.value, row.cpu = b.Weight[i], b.CPU[i]
		} else {
			row.value = b.Value[i]
		}
		owner := b.Owner(i)
		owner.Thread = 0 // it has no place
		m.append(groupKey{b.Stack[i], owner}, row)
		if len(m.rows) == maxMoments {
			m.finish()
		}
	}
}

func (m *moments) append(key groupKey, row moment) {
	g := m.group(key)
	m.rows = append(m.rows, row)
	at := int32(len(m.rows) - 1)
	if g.n == 0 {
		g.first = at
	} else {
		m.rows[g.last].next = at
	}
	g.last, g.n = at, g.n+1
}

func (m *moments) group(key groupKey) *group {
	at := m.at[key.stack] - 1
	if at >= 0 && m.groups[at].groupKey != key {
		var ok bool
		if at, ok = m.others[key]; !ok {
			at = -1
		}
	}
	if at < 0 {
		at = int32(len(m.groups))
		if m.at[key.stack] == 0 {
			m.at[key.stack] = at + 1
		} else {
			m.others[key] = at
		}
		m.groups = append(m.groups, group{groupKey: key})
	}
	return &m.groups[at]
}

// finish gives out what was collected.
func (m *moments) finish() {
	if len(m.rows) == 0 {
		return
	}
	m.done(m.series, m)
	for i := range m.groups {
		m.at[m.groups[i].stack] = 0
	}
	clear(m.others)
	m.groups, m.rows = m.groups[:0], m.rows[:0]
}

// addMoments adds the samples of rows with times.
func (s *Sink) addMoments(series stream.Series, m *moments) {
	types, cpu := s.types.Of(series.Kind, series.Counter), -1
	if series.Kind == stream.Samples {
		cpu = slices.Index(s.types.List, totals.CPUTypes[0])
	}
	for i := range m.groups {
		g := &m.groups[i]
		s.take(m, g, series.Kind)
		identity := s.identity(series.Track, g.groupKey)
		for _, typ := range types {
			values := s.values
			if typ == cpu {
				values = s.cpu
			}
			s.addSample(typ, identity, values, s.times)
		}
		s.split()
	}
}

// take collects the values of a group, its CPU times and when they were.
func (s *Sink) take(m *moments, g *group, kind stream.Kind) {
	s.values, s.cpu, s.times = s.values[:0], s.cpu[:0], s.times[:0]
	for at, n := g.first, g.n; n > 0; n-- {
		row := &m.rows[at]
		at = row.next
		s.values = binary.AppendUvarint(s.values, uint64(row.value))
		s.times = binary.LittleEndian.AppendUint64(s.times, uint64(row.at))
		s.span.add(row.at)
		if kind != stream.Samples {
			continue
		}
		s.cpu = binary.AppendUvarint(s.cpu, uint64(max(0, row.cpu)))
		if row.cpu < 0 {
			s.unknown = totals.Plus(s.unknown, row.value)
		}
	}
}

// addTotals adds the samples of sums.
func (s *Sink) addTotals(all *totals.Part) {
	types := s.types.Of(all.Kind, all.Measure)
	for total := range all.All() {
		if total.Zero() && s.came.Alone == nil {
			continue
		}
		of, identity := s.types.ValuesOf(total, all.Measure), s.identity(all.Track, groupKey{total.Stack, total.Owner})
		for _, typ := range types {
			s.values = binary.AppendUvarint(s.values[:0], uint64(of[typ]))
			s.addSample(typ, identity, s.values, nil)
		}
		s.split()
	}
}

// identity is the fields of a sample that say what it is of. It is valid until the next call.
func (s *Sink) identity(track stream.TrackID, key groupKey) []byte {
	body := protobuf.AppendNumber(s.body[:0], otlpproto.SampleStack, s.stack(key.stack))
	fields := s.fieldsOf(owned{track, key.owner})
	if len(fields.attributes) > 0 {
		body = protobuf.AppendBytes(body, otlpproto.SampleAttributes, fields.attributes)
	}
	s.body = protobuf.AppendNumber(body, otlpproto.SampleLink, fields.link)
	return s.body
}

// addSample adds a sample to the profile of a type.
func (s *Sink) addSample(typ int, identity, values, times []byte) {
	body := protobuf.AppendBytes(identity, otlpproto.SampleValues, values)
	if len(times) > 0 {
		body = protobuf.AppendBytes(body, otlpproto.SampleTimes, times)
	}
	p := &s.profiles[typ]
	if p.samples == nil {
		p.samples = s.samples.NewBuffer()
	}
	s.framed = protobuf.AppendBytes(s.framed[:0], otlpproto.ProfileSample, body)
	p.samples.Write(s.framed) // the file keeps its error
	p.size += int64(len(s.framed))
	s.body = body
}
