package otlp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"gprof/ingest/internal/damage"
	"gprof/ingest/internal/values"
	"gprof/rawformat/otlpproto"
	"gprof/rawformat/protobuf"
	"gprof/stream"
)

// source is the source of the wanted processes of a file, part by part.
type source struct {
	file   *File
	tables *stream.Tables
	ids    []stream.ProcessID // by process of the file; 0 is unwanted
	shift  stream.Time
	wanted []wanted
	total  int64 // bytes of all parts

	ended   bool
	held    []byte // the file, if it is small
	ahead   io.ReadCloser
	aheadAt int64
	claimed stream.Claim
	rows    values.Rows
	told    []bool // by process: what is known of it is in the ledger

	// Of the part that is read:

	part       *part
	done       int64  // bytes of the parts before
	message    []byte // it, if it is small and one of many
	dictionary dictionary
	code       *code
	cursors    []*cursor // by profile of the group, and more

	// Of the unit:

	at        int              // in wanted, + 1; 0: nothing is begun
	whose     map[string]whose // by attributes and link
	key       []byte           // scratch
	malformed int64            // samples
	inexact   int64
	links     int64 // malformed

	// Of the group:

	group   int // in the unit
	reading int // its profiles; 0: it is not begun
	plan    *values.Plan
	number  uint64  // of the next sample
	scaled  []int64 // scratch
}

// wanted is a unit that is read.
type wanted struct {
	part *part
	*unit
}

// Tables implements [stream.Source].
func (s *source) Tables() *stream.Tables { return s.tables }

// Progress is the bytes of the file that were read for samples.
func (s *source) Progress() (done, total int64) {
	switch {
	case s.ended:
		return s.total, s.total
	case len(s.cursors) > 0:
		return min(s.done+s.cursors[0].Offset(), s.total), s.total
	}
	return s.done, s.total
}

// Next implements [stream.Source]. Damage is a ledger line.
func (s *source) Next(b *stream.Batch) error {
	for !s.rows.Take(b) {
		if s.ended {
			s.rows = values.Rows{}
			b.Reset(stream.Series{}, 0)
			return io.EOF
		}
		if err := s.read(); err != nil {
			s.end(err)
		}
	}
	return nil
}

// read reads on, until there may be rows to hand over. The error is io.EOF at the end, or when the tables
// are full.
func (s *source) read() error {
	if s.at == 0 {
		if err := s.begin(); err != nil {
			return err
		}
	}
	for s.reading == 0 && s.group == len(s.unit().groups) {
		s.tellMore()
		if s.at == len(s.wanted) {
			return io.EOF
		}
		if err := s.beginUnit(); err != nil {
			return err
		}
	}
	if s.reading == 0 {
		if err := s.beginGroup(); err != nil {
			return err
		}
	}
	return s.fill()
}

// begin begins the first unit.
func (s *source) begin() (err error) {
	s.told = make([]bool, len(s.file.processes))
	if s.held, err = s.file.hold(); err != nil {
		return err
	}
	err = s.beginUnit()
	s.tell(stream.ReasonNewer, "fields", "of a later state of OpenTelemetry's profiles", s.file.newer)
	s.tell(stream.ReasonUnsupported, "original payloads", "", s.file.originals)
	return err
}

// unit is the one that is read, and process its process.
func (s *source) unit() *unit          { return s.wanted[s.at-1].unit }
func (s *source) process() *process    { return &s.file.processes[s.unit().process] }
func (s *source) id() stream.ProcessID { return s.ids[s.unit().process] }

// beginUnit begins the next unit, and its part if that is another one.
func (s *source) beginUnit() error {
	s.at++
	if w := &s.wanted[s.at-1]; w.part != s.part {
		if err := s.beginPart(w.part); err != nil {
			return err
		}
	}
	s.tables.Lock()
	defer s.tables.Unlock()
	nothing := values.NewPlan(nil, stream.ValueType{}, 0)
	if s.at == 1 {
		s.rows = values.NewRows(s.tables, s.id(), nothing)
	} else {
		s.rows.Turn(s.id(), nothing)
	}
	s.group, s.whose = 0, make(map[string]whose)
	if !s.told[s.unit().process] {
		s.told[s.unit().process] = true
		for _, line := range s.process().lines {
			s.tables.Ledger.Add(line)
		}
		s.tellLocked(stream.ReasonUndefined, "attributes", "", s.process().lost)
	}
	return nil
}

// beginPart reads the tables of a part.
func (s *source) beginPart(p *part) error {
	if s.part != nil {
		s.done += s.part.to - s.part.from
	}
	if err := s.closeCursors(); err != nil {
		return err
	}
	s.part, s.dictionary, s.message = p, dictionary{}, nil
	if s.held == nil && len(s.file.parts) > 1 && p.to-p.from <= maxHeld {
		var err error
		if s.message, err = s.readAhead(p.span); err != nil {
			return err
		}
	}
	if err := s.readDictionary(); err != nil {
		return err
	}
	s.code = newCode(&s.dictionary, s.tables, s.file.resolve)
	return nil
}

// readAhead reads a part into memory that is behind those that were read so before.
func (s *source) readAhead(p span) (message []byte, err error) {
	if s.ahead == nil {
		if s.ahead, err = s.file.open(); err != nil {
			return nil, err
		}
	}
	if err := pass(s.ahead, s.aheadAt, p.from); err != nil {
		return nil, err
	}
	message = make([]byte, p.to-p.from)
	n, err := io.ReadFull(s.ahead, message)
	s.aheadAt = p.from + int64(n)
	return message, err
}

// pass goes from one offset of a stream to a later one.
func pass(in io.Reader, from, to int64) error {
	if from == to {
		return nil
	}
	if f, ok := in.(io.Seeker); ok {
		_, err := f.Seek(to, io.SeekStart)
		return err
	}
	_, err := io.CopyN(io.Discard, in, to-from)
	return err
}

func (s *source) readDictionary() error {
	in, err := s.open()
	if err != nil {
		return err
	}
	defer in.Close()
	w := s.walk(in, none)
	for n := 1; ; n++ {
		v, err := w.Read()
		if s.atEnd(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if w.message() == otlpproto.Dictionary {
			if err := s.dictionary.add(v, w.Offset()); err != nil {
				return err
			}
		}
		if n%checkEach == 0 && s.claim(s.dictionary.bytes()+s.heldBytes()) {
			return io.EOF
		}
	}
}

// heldBytes is the memory of what is held of the file.
func (s *source) heldBytes() int64 { return int64(cap(s.held) + cap(s.message)) }

// atEnd reports whether reading has ended where it had to: at the end, or at the damage that opening told.
func (s *source) atEnd(err error) bool {
	var damaged *damage.Error
	return err == io.EOF || s.part != nil && s.part.damaged && errors.As(err, &damaged)
}

// open opens the intact part of the part.
func (s *source) open() (io.ReadCloser, error) {
	switch {
	case s.message != nil:
		return io.NopCloser(bytes.NewReader(s.message)), nil
	case s.held != nil:
		size := int64(len(s.held)) // less than it was, if the file was changed
		return io.NopCloser(bytes.NewReader(s.held[min(s.part.from, size):min(s.part.to, size)])), nil
	}
	in, err := s.file.open()
	if err != nil {
		return nil, err
	}
	if err := pass(in, 0, s.part.from); err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return struct {
		io.Reader
		io.Closer
	}{io.LimitReader(in, s.part.to-s.part.from), in}, nil
}

// walk returns a walker of the part, which was opened.
func (s *source) walk(in io.Reader, only int) *walker {
	if !s.file.json {
		return walk(in, only)
	}
	if m := newDocuments(in, s.part.from, s.part.to-s.part.from).next(); m != nil {
		return walkText(m, only)
	}
	return walk(in, only) // it is empty now
}

// checkEach is the number of rows after which to check for room.
const checkEach = 1 << 14

// claim tells the tables how much memory is held, and reports whether they are full.
func (s *source) claim(bytes int64) (full bool) {
	s.tables.Lock()
	defer s.tables.Unlock()
	s.claimed.Set(s.tables, bytes)
	return s.tables.Full()
}

// fill reads samples of the group until there are rows to hand over, or it ends. The error is io.EOF when
// the tables are full.
func (s *source) fill() error {
	s.tables.Lock()
	defer s.tables.Unlock()
	known := s.tables.Stacks.Len()
	for !s.rows.Full() {
		more, err := s.next()
		if err != nil {
			return err
		}
		if !more {
			s.reading = 0
			s.group++
			break
		}
		s.add()
		if now := s.tables.Stacks.Len(); now > known+checkEach {
			known = now
			if s.full() {
				return io.EOF
			}
		}
	}
	s.rows.Hand()
	if s.full() {
		return io.EOF
	}
	return nil
}

// full updates the memory that is held and reports whether the tables are full, which are locked.
func (s *source) full() bool {
	s.claimed.Set(s.tables, s.code.bytes()+s.heldBytes()+64*int64(len(s.whose)))
	return s.tables.Full()
}

// beginGroup has a cursor at each profile of the group.
func (s *source) beginGroup() error {
	g := &s.unit().groups[s.group]
	for i, p := range g.profiles {
		if i == len(s.cursors) {
			in, err := s.open()
			if err != nil {
				return err
			}
			s.cursors = append(s.cursors, &cursor{walker: s.walk(in, p.number), in: in})
		}
		s.cursors[i].only, s.cursors[i].inside = p.number, false // it is ahead
	}
	s.reading = len(g.profiles)
	s.plan = values.NewPlan(g.types, g.period, g.profiles[0].every)
	s.rows.Use(s.plan)
	s.scaled = make([]int64, len(g.types))
	s.number = 0
	if n := g.profiles[0].untimed; n > 0 && g.profiles[0].duration > 0 {
		where := fmt.Sprintf("no moment of their own, spread over %v", time.Duration(g.profiles[0].duration))
		s.tell(stream.ReasonClock, "samples", where, n)
	}
	return nil
}

// cursor reads the samples of one profile after the other.
type cursor struct {
	*walker
	in     io.Closer
	inside bool // the profile
	sample
	ok bool // the sample is
}

// profileDepth is how deep the fields of a profile are.
const profileDepth = 3

// next reads the next sample; false at the end.
func (c *cursor) next() (more bool, err error) {
	for !c.inside || !c.Ended(profileDepth) {
		v, err := c.Read()
		if err != nil {
			return false, err
		}
		switch {
		case !c.inside:
			c.inside = c.message() == otlpproto.ScopeProfiles && v.Number == otlpproto.ScopeProfilesProfile && c.profile == c.only
		case v.Number == otlpproto.ProfileSample && v.Wire == protobuf.Bytes:
			c.ok = c.parse(v.Bytes)
			return true, nil
		}
	}
	c.inside = false
	return false, nil
}

// next reads the next sample of all profiles of the group.
func (s *source) next() (more bool, err error) {
	for _, c := range s.cursors[:s.reading] {
		if more, err = c.next(); err != nil || !more {
			return false, err
		}
	}
	return true, nil
}

// add adds the rows of the samples that were read: one for each value.
func (s *source) add() {
	first := s.cursors[0]
	number := s.number
	s.number++
	for _, c := range s.cursors[:s.reading] {
		// What was the same on opening is, unless the file was changed.
		if !c.ok || c.len() != first.len() || !bytes.Equal(c.identity, first.identity) {
			s.malformed++
			return
		}
	}
	of := s.of(&first.sample)
	p := s.unit().groups[s.group].profiles[0]
	place := values.Place{Track: of.track, Owner: of.owner, Stack: s.code.stack(first.stack)}
	for i := range first.len() {
		for k, c := range s.cursors[:s.reading] {
			v, exact := s.plan.Scale(k, c.value(i))
			if !exact {
				s.inexact++
			}
			s.scaled[k] = v
		}
		if len(first.times) > 0 {
			place.At = stream.Time(min(first.times[i], math.MaxInt64)) + s.shift
		} else {
			place.At = values.Spread(stream.Time(p.time), p.duration, number, uint64(p.samples)) + s.shift
		}
		s.rows.Add(s.scaled, &place)
	}
}

// end ends reading; err is the reason, io.EOF at the end.
func (s *source) end(err error) {
	s.ended = true
	s.rows.Hand()
	if !s.atEnd(err) {
		s.tell(stream.ReasonUnreadable, "files", err.Error(), 1)
	}
	s.tellMore()
	s.release()
}

// Close implements [io.Closer].
func (s *source) Close() error {
	s.ended = true
	s.rows.Drop()
	return s.release()
}

// release frees what only reading needs: there may be a thousand sources.
func (s *source) release() error {
	s.held, s.message, s.dictionary, s.code, s.whose = nil, nil, dictionary{}, nil, nil
	s.claim(0)
	err := s.closeCursors()
	if s.ahead != nil {
		err = errors.Join(err, s.ahead.Close())
		s.ahead = nil
	}
	return err
}

func (s *source) closeCursors() (err error) {
	for _, c := range s.cursors {
		err = errors.Join(err, c.in.Close())
	}
	s.cursors = nil
	return err
}

// tellMore writes what was odd in the process to the ledger.
func (s *source) tellMore() {
	s.tell(stream.ReasonMalformed, "samples", "", s.malformed)
	s.tell(stream.ReasonMalformed, "values", "beyond 64 bits in their unit", s.inexact)
	s.tell(stream.ReasonMalformed, "links", "to a span", s.links)
	s.malformed, s.inexact, s.links = 0, 0, 0
	if c := s.code; c != nil {
		s.tell(stream.ReasonMalformed, "definitions", "", c.malformed)
		s.tell(stream.ReasonMalformed, "stacks", fmt.Sprintf("of more than %d locations", maxStack), c.tooDeep)
		s.tell(stream.ReasonUndefined, "numbers of rows", "", c.undefined)
		s.tell(stream.ReasonUnsupported, "details of code", "columns, and attributes of places and mappings", c.details)
		c.malformed, c.tooDeep, c.undefined, c.details = 0, 0, 0, 0
	}
}

// tell adds a ledger line, unless it counts nothing.
func (s *source) tell(r stream.Reason, what, where string, n int64) {
	s.tables.Lock()
	defer s.tables.Unlock()
	s.tellLocked(r, what, where, n)
}

func (s *source) tellLocked(r stream.Reason, what, where string, n int64) {
	if n > 0 {
		of := s.wanted[max(0, s.at-1)].process
		s.tables.Ledger.Add(stream.Line{Process: s.file.processes[of].row.InstanceName(), Reason: r, What: what, Where: where, Count: n})
	}
}
