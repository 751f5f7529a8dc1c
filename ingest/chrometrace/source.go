package chrometrace

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"gprof/ingest/internal/batches"
	"gprof/ingest/internal/damage"
	"gprof/ingest/internal/jsonfile"
	"gprof/stream"
)

// source is the source of the wanted processes of a file.
type source struct {
	file   *File
	tables *stream.Tables
	ids    []stream.ProcessID // by process
	zero   stream.Time        // of the file's clock

	rows     batches.Batches
	walk     *walk // nil before the first row and behind the last
	lines    []*line
	byTid    map[string]*line // by pid and tid as they stand in the file
	key      []byte           // scratch, as are these
	event    event
	shapes   shapes
	open     unended
	counters counters
	profiles profiles
	frames   frames
	odd      odd
	claim    stream.Claim
	texts    int // bytes of text in rows that are not handed over
	ended    bool
}

// line is a thread of a wanted process.
type line struct {
	process stream.ProcessID
	track   stream.TrackID
	tid     int64
	pid     string
	wanted  bool
	begun   []interval // of B events, innermost last
}

func newSource(f *File, t *stream.Tables, ids []stream.ProcessID, zero stream.Time) *source {
	return &source{file: f, tables: t, ids: ids, zero: zero}
}

// Tables implements [stream.Source].
func (s *source) Tables() *stream.Tables { return s.tables }

// Progress is the place in the file.
func (s *source) Progress() (done, total int64) {
	switch {
	case s.ended:
		return s.file.size, s.file.size
	case s.walk != nil:
		return s.walk.off, s.file.size
	}
	return 0, s.file.size
}

// Next implements [stream.Source]. Damage is a line of the ledger.
func (s *source) Next(b *stream.Batch) error {
	if s.walk == nil && !s.ended {
		s.begin()
	}
	s.tables.Lock()
	defer s.tables.Unlock()
	for !s.rows.Take(b) {
		if s.ended {
			b.Reset(stream.Series{}, 0)
			return io.EOF
		}
		if more := s.fill(); !more {
			s.end()
		}
		s.hand()
	}
	return nil
}

// begin prepares reading events.
func (s *source) begin() {
	s.tables.Lock()
	defer s.tables.Unlock()
	s.rows.Index = 1
	s.byTid = map[string]*line{}
	s.shapes.begin(s)
	s.open.begin()
	s.frames.begin(s)
	s.tracks()
	s.walk = newWalk(s.file.r, s.file.size, func(_ string, in *jsonfile.Scanner) { in.Skip() })
}

// tracks makes the tracks of all processes, one of each the main one: that of the thread that is called as
// its process, or one without rows.
func (s *source) tracks() {
	for number, p := range s.file.processes {
		id := s.id(number)
		if id == 0 {
			continue
		}
		for _, t := range p.threads {
			s.tables.Tracks.Intern(t.track(id))
		}
		if !p.main {
			s.tables.Tracks.Intern(stream.Track{Process: id, Name: s.tables.Process(id).Name, Main: true})
		}
	}
}

// track is that of a thread of a process.
func (t *thread) track(process stream.ProcessID) stream.Track {
	return stream.Track{Process: process, Name: t.name, Thread: max(0, t.tid), Main: t.main, Root: true}
}

// id is that of a process, 0 if it is not wanted.
func (s *source) id(number int) stream.ProcessID {
	if number >= len(s.ids) {
		return 0
	}
	return s.ids[number]
}

// line is that of an event.
func (s *source) line(e *event) *line {
	s.key = append(append(append(s.key[:0], e.pid...), ' '), e.tid...)
	if l, ok := s.byTid[string(s.key)]; ok {
		return l
	}
	l := &line{pid: string(e.pid)}
	if p, ok := s.file.byPid[l.pid]; ok {
		if t, ok := p.byTid[string(e.tid)]; ok && s.id(p.number) != 0 {
			l.process, l.tid, l.wanted = s.id(p.number), max(0, t.tid), true
			l.track = s.tables.Tracks.Intern(t.track(l.process))
		}
	}
	s.byTid[string(s.key)] = l
	s.lines = append(s.lines, l)
	return l
}

// maxTexts bounds the bytes of text in rows before they are handed over.
const maxTexts = 8 << 20

// fill reads events until there are rows to hand over. It reports whether there may be more.
func (s *source) fill() bool {
	for n := 0; !s.rows.Full() && s.texts < maxTexts; n++ {
		if n%1024 == 1023 && s.full() {
			return false
		}
		raw := s.walk.next()
		if raw == nil {
			return false
		}
		if !s.event.parse(raw, &s.odd) {
			s.odd.events++
			continue
		}
		if l := s.line(&s.event); l.wanted {
			s.take(&s.event, l)
		}
	}
	return !s.full()
}

// full updates what is claimed and reports whether the tables are full.
func (s *source) full() bool {
	s.claim.Set(s.tables, s.open.bytes+s.profiles.bytes()+s.shapes.bytes+s.frames.bytes)
	return s.tables.Full()
}

// take makes rows of an event.
func (s *source) take(e *event, l *line) {
	s.note(e)
	switch e.phase {
	case 'M':
		return
	case 'P':
		if s.profile(e, l) {
			return
		}
	}
	if !e.timed {
		s.odd.times++
		return
	}
	switch e.phase {
	case 'X':
		s.complete(e, l)
	case 'B':
		s.push(e, l)
	case 'E':
		s.pop(e, l)
	case 'b', 'S':
		s.beginAsync(e, l)
	case 'e', 'F':
		s.endAsync(e, l)
	case 'i', 'I', 'R', 'n', 'T', 'p', 's', 't', 'f', 'N', 'O', 'D', 'v', 'V', 'c', '(', ')', '=', 'a':
		if e.phase != 'I' || !s.wholeProfile(e, l) {
			s.moment(e, l)
		}
	case 'P':
		s.sample(e, l)
	case 'C':
		s.count(e, l)
	default:
		if s.odd.phases == nil {
			s.odd.phases = map[byte]int64{}
		}
		s.odd.phases[e.phase]++
	}
}

// note counts what an event says that has no place.
func (s *source) note(e *event) {
	if e.clock {
		s.odd.clocks++
	}
	if e.colored {
		s.odd.colors++
	}
	if e.ended {
		s.odd.stacks++
	}
	if e.phase == 'M' && (string(e.name) == `"thread_sort_index"` || string(e.name) == `"process_sort_index"`) {
		s.odd.orders++
	}
}

// at is the time of an event.
func (s *source) at(e *event) stream.Time { return s.zero + stream.Time(e.at) }

// hand hands all rows over.
func (s *source) hand() {
	s.rows.Hand()
	s.texts = 0
}

// end ends reading.
func (s *source) end() {
	if s.walk.damaged() == nil {
		s.samples()
	}
	s.unfinished()
	s.endProfiles()
	s.tell()
	s.release()
}

// tell writes to the ledger what is wrong, or has no place.
func (s *source) tell() {
	o := &s.odd
	s.damage(s.walk.damaged())
	if s.walk.openAt > 0 {
		s.lose(stream.ReasonUnproven, "files", "no ] at the end: it may be cut short", 1)
	}
	s.lose(stream.ReasonMalformed, "events", "", o.events)
	s.lose(stream.ReasonMalformed, "times", "", o.times)
	s.lose(stream.ReasonUndefined, "stacks", "", o.undefined)
	s.lose(stream.ReasonMalformed, "samples", "without a stack or a thread", o.samples)
	s.lose(stream.ReasonMalformed, "counters", "values that are no numbers", o.numbers)
	s.lose(stream.ReasonImpossible, "durations", "below 0, or missing", o.durations)
	s.lose(stream.ReasonUnpaired, "ends", "of intervals that did not begin", o.unpaired)
	s.lose(stream.ReasonUnsupported, "thread clocks", "tts", o.clocks)
	s.lose(stream.ReasonUnsupported, "sort orders", "", o.orders)
	s.lose(stream.ReasonUnsupported, "colors", "cname", o.colors)
	s.lose(stream.ReasonUnsupported, "stacks", "of the ends of markers", o.stacks)
	s.lose(stream.ReasonUnsupported, "counters", "fractions of values", o.fractions)
	s.lose(stream.ReasonUnsupported, "counters", fmt.Sprintf("of more than %d", maxCounters), s.counters.more)
	s.lose(stream.ReasonUnsupported, "profiles", fmt.Sprintf("of more than %d: samples", maxProfiles), s.profiles.more)
	for _, key := range slices.Sorted(maps.Keys(o.members)) {
		s.lose(stream.ReasonUnsupported, "members of events", key, o.members[key])
	}
	for _, phase := range slices.Sorted(maps.Keys(o.phases)) {
		s.lose(stream.ReasonUnknownKind, "events", fmt.Sprintf("of phase %q", phase), o.phases[phase])
	}
	for _, key := range slices.Sorted(maps.Keys(s.file.parts)) {
		if key != "stackFrames" && key != "samples" {
			s.lose(stream.ReasonUnsupported, "members of the file", key+", but for what is an attribute", 1)
		}
	}
}

// damage tells of what ended the file early.
func (s *source) damage(err error) {
	if err == nil {
		return
	}
	reason, where := stream.ReasonUnreadable, err.Error()
	var at *damage.Error
	if errors.As(err, &at) {
		reason, where = stream.ReasonMalformed, fmt.Sprintf("byte %d", at.Off)
		if errors.Is(err, damage.ErrTorn) {
			reason = stream.ReasonTorn
		}
	}
	s.lose(reason, "JSON", where, 1)
}

// lose adds a ledger line, unless it counts nothing, under the first of the processes.
func (s *source) lose(r stream.Reason, what, where string, n int64) {
	if n == 0 {
		return
	}
	for _, id := range s.ids {
		if id != 0 {
			s.tables.Ledger.Add(stream.Line{Process: s.tables.Process(id).InstanceName(), Reason: r, What: what, Where: where, Count: n})
			return
		}
	}
}

// release frees what only reading needs: there may be a thousand sources.
func (s *source) release() {
	s.ended = true
	s.walk, s.lines, s.byTid, s.shapes, s.open, s.counters, s.profiles, s.frames = nil, nil, nil, shapes{}, unended{}, counters{}, profiles{}, frames{}
	s.claim.Set(s.tables, 0)
}

// Close implements [io.Closer].
func (s *source) Close() error {
	s.tables.Lock()
	defer s.tables.Unlock()
	s.rows.Drop()
	s.release()
	return nil
}
