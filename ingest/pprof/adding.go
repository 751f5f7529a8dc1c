package pprof

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"io"
	"maps"
	"slices"
	"unsafe"

	"gprof/ingest/internal/values"
	"gprof/stream"
)

// adding adds up the files of a pool as they are read: of a hundred thousand profiles, of which only the sum is wanted,
// each takes some bytes.
//
//  1. The first file of a kind becomes a [File] as any other.
//  2. The samples of those that follow, and then its own, are added to its sum by stack and labels. Samples
//     that can't be added up are stored.
//  3. Files for which there is no room are read on their turn, as parts of the first.
//
// The result does not depend on which file comes first.
type adding struct {
	first map[kind]*File
	seed  maphash.Seed
	seen  map[uint64]int64 // by hash of the contents: the most bytes that they take as stored
	again int              // how much of the last files was added to what was there before, in hundredths
}

// enoughAgain is how much of the last files must have been there before for stacks to take much memory, and to be found as a
// whole.
const enoughAgain = 25

// repeats reports whether much of the last files that were added had been there before.
func (a *adding) repeats() bool { return a != nil && a.again >= enoughAgain }

// kind is what files have in common that can be added up.
type kind struct {
	program, types, chosen string
	period                 int64
	periodType             stream.ValueType
	dated                  bool
}

func kindOf(h *header) kind {
	return kind{program: h.program, types: h.values(), chosen: h.chosen, period: h.period, periodType: h.periodType, dated: h.time > 0}
}

// sum is several files that became one.
type sum struct {
	files  int64
	stored int64 // bytes of the files as they lie there
	copies int64 // files that were there before,
	copied int64 // and their bytes

	samples, others reach // files with rows, and those without
	size            int64 // bytes, decompressed
	mappings        map[mappingPart]mappingRow
	ledger          stream.Ledger
	noted           map[string]bool

	totals totals
	single []single // samples that can't be added up
	rest   []*File  // to be read on their turn
	held   int64    // bytes that the pool counts for it,
	summed int64    // those of totals
}

// single is samples of one file, each behind its distance from the one before.
type single struct {
	timing
	data []byte
}

func (s *single) bytes() int64 { return int64(unsafe.Sizeof(*s)) + int64(cap(s.data)) }

// mappingPart is a part of a program's file, which lies at another address in each process.
type mappingPart struct {
	file, build  string
	size, offset uint64
}

// Add is [Pool.Open] where only the sum of all profiles is wanted. It takes the number of bytes that the file takes as
// it is stored. If there is no File but it is ok, the profile, up to an error, was added to an earlier one. When all are
// there, [Pool.Settle] must be called.
func (p *Pool) Add(open func() (io.ReadCloser, error), stored int64) (f *File, ok bool, err error) {
	in, err := open()
	if err != nil {
		return nil, false, err
	}
	defer in.Close()
	r := p.takeReading()
	defer p.readings.Put(r)
	f = &File{open: open, pool: p}
	whole, err := r.read(f, in)
	if f.header == nil {
		return nil, false, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.adding == nil {
		p.adding = &adding{first: map[kind]*File{}, seed: maphash.MakeSeed(), seen: map[uint64]int64{}}
	}
	if p.adding.add(f, r, whole, stored) {
		return nil, true, err
	}
	return f, true, err
}

// add adds a file to the first of its kind. It returns false if it is that itself, or a sum, which has notes of its own.
func (a *adding) add(f *File, r *reading, whole bool, stored int64) bool {
	h, id := f.header, f.header.instance
	if whole {
		id = maphash.Bytes(a.seed, r.held)
	}
	if h.sum.isSum {
		f.alone(r, whole)
		return false
	}
	first := a.first[kindOf(h)]
	if most, again := a.seen[id]; again && first != nil {
		first.sum.copies++
		first.sum.copied += min(most, stored)
		a.seen[id] = max(most, stored)
		return true
	}
	a.seen[id] = stored
	if first == nil {
		a.first[kindOf(h)] = f
		f.alone(r, whole)
		f.sum = &sum{files: 1, stored: stored}
		return false
	}
	if first.sum.files == 1 {
		first.begin()
	}
	first.sum.add(f, r, whole, stored)
	return true
}

// alone makes f one as any other.
func (f *File) alone(r *reading, whole bool) {
	if whole {
		f.header.instance = r.digest()
		f.kept = r.keep(f.pool, f.header)
	}
}

// begin makes f, which is the only one of its kind, a part of its sum.
func (f *File) begin() {
	one := *f
	one.sum, f.kept = nil, nil
	s := f.sum
	s.mappings, s.noted = map[mappingPart]mappingRow{}, map[string]bool{}
	if one.kept == nil {
		f.pool.users++
		s.note(one.header, one.header.samples > 0)
		s.rest = append(s.rest, &one)
		return
	}
	plan := one.header.plan()
	s.totals.width = plan.Width()
	into := adder{sum: s, header: one.header, plan: plan}
	var m sample
	for left := one.kept.samples; len(left) > 0; {
		left = m.take(left)
		into.add(&m)
	}
	into.end(&one, &one.kept.odd)
	f.pool.kept -= int64(len(one.kept.samples))
}

// add adds another file.
func (s *sum) add(f *File, r *reading, whole bool, stored int64) {
	s.files, s.stored = s.files+1, s.stored+stored
	if !whole || f.pool.full() {
		s.note(f.header, f.header.samples > 0)
		s.rest = append(s.rest, f)
		return
	}
	plan := f.header.plan()
	s.totals.width = plan.Width()
	into := adder{sum: s, header: f.header, plan: plan, out: r.out[:0]}
	r.each(f.pool, plan, into.add)
	odd := r.samples.odd()
	into.end(f, &odd)
	r.out = into.out
}

// note notes what is known of a file, and whether it has rows.
func (s *sum) note(h *header, rows bool) {
	s.size += h.size
	if rows {
		s.samples.add(h)
	} else {
		s.others.add(h)
	}
	for _, m := range h.mappings {
		part := mappingPart{m.file, m.build, m.limit - m.start, m.offset}
		old, known := s.mappings[part]
		switch {
		case !known && len(s.mappings) == maxMapped:
			continue
		case known:
			m.names |= old.names
			m.start, m.limit = min(m.start, old.start), min(m.limit, old.limit)
		}
		s.mappings[part] = m
	}
}

// reach is a time.
type reach struct {
	known    bool
	from, to stream.Time
}

func (r *reach) add(h *header) {
	from, to := stream.Time(h.time), h.end()
	if !r.known {
		*r = reach{true, from, to}
	}
	r.from, r.to = min(r.from, from), max(r.to, to)
}

// adder adds the samples of a file to a sum.
type adder struct {
	*sum
	header *header
	plan   *values.Plan
	number uint64 // of the next sample
	any    bool   // it has rows
	again  int    // samples that were added to what was there
	out    []byte // as in single
	last   uint64 // number of the last one in out
}

func (a *adder) add(m *sample) {
	number := a.number
	a.number++
	if len(m.values) == 0 {
		return
	}
	a.any = a.any || a.plan.HasRow(m.values)
	if len(m.inner) == 0 && a.plan.Adds(m.values) {
		if a.totals.add(m, a.header.moment(number), a.plan) {
			a.again++
		}
		return
	}
	a.out = m.append(binary.AppendUvarint(a.out, number-a.last))
	a.last = number
}

// end notes what was odd in the file.
func (a *adder) end(f *File, odd *anomalies) {
	held := a.totals.bytes()
	f.pool.kept += held - a.summed
	a.held, a.summed = a.held+held-a.summed, held
	if len(a.out) > 0 {
		one := single{a.header.timing, bytes.Clone(a.out)}
		a.single = append(a.single, one)
		f.pool.kept += one.bytes()
		a.held += one.bytes()
	}
	if a.number > 0 {
		of := f.pool.adding
		of.again = (3*of.again + 100*a.again/int(a.number)) / 4
	}
	a.note(f.header, a.any)
	for key, number := range odd.noted {
		if was, ok := a.noted[key]; ok {
			a.noted[key] = was && number
		} else if len(a.noted) < maxNoted {
			a.noted[key] = number
		}
	}
	for _, line := range f.lines(odd, true) {
		a.ledger.Add(line)
	}
}

// Files is the number of profiles that f is made of.
func (f *File) Files() int64 {
	if f.sum == nil {
		return 1
	}
	return f.sum.files
}

// Settle ends adding: each File becomes the whole of all that was added to it.
func (p *Pool) Settle() {
	if p.adding == nil {
		return
	}
	for _, f := range p.adding.first {
		if f.Files() > 1 {
			f.settle()
		}
	}
	p.adding = nil
}

func (f *File) settle() {
	s, k, h := f.sum, kindOf(f.header), *f.header
	when := s.samples
	if !when.known {
		when = s.others
	}
	name := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %d %q %v", k.program, k.types, k.chosen, k.period, k.periodType, k.dated))
	h.instance = max(1, binary.BigEndian.Uint64(name[:]))
	h.time, h.duration, h.size = int64(when.from), int64(when.to-when.from), s.size
	h.samples, h.attributes, h.mappings = 0, nil, slices.Collect(maps.Values(s.mappings)) // in no order, which tables need not
	f.header, s.mappings = &h, nil
	for _, one := range s.rest {
		one.header.instance = h.instance
	}
}

// Copies is how many profiles of those that were added were there before, and how many bytes they take as stored.
func (f *File) Copies() (n, stored int64) {
	if f.sum == nil {
		return 0, 0
	}
	return f.sum.copies, f.sum.copied
}

// Stored is how many bytes the files take as stored.
func (f *File) Stored() int64 { return f.sum.stored }

// totals are sums of values, by stack and labels.
type totals struct {
	width  int                // values of a sum
	at     []int32            // by stack: 1 + its first index in keys, 0 none
	others map[totalKey]int32 // where further ones are: those of other labels
	list   []total
	values []int64 // width of each
}

type totalKey struct {
	stack  stackID
	labels labelsID
}

type total struct {
	totalKey
	at stream.Time // of the earliest sample
}

// add adds a sample. It reports whether there was one of its stack and labels before.
func (t *totals) add(m *sample, at stream.Time, plan *values.Plan) (again bool) {
	known := len(t.list)
	i := t.find(totalKey{m.stack, m.labels}, at)
	t.list[i].at = min(t.list[i].at, at)
	sums := t.values[int(i)*t.width:][:t.width]
	for k, v := range m.values {
		sums[k] = stream.Plus(sums[k], v)
	}
	if n := len(m.values); n < t.width {
		sums[n] = stream.Plus(sums[n], plan.Weight(m.values))
	}
	return len(t.list) == known
}

// find returns the index of a sum, a new one if there is none.
func (t *totals) find(key totalKey, when stream.Time) int32 {
	first := at(&t.at, key.stack)
	if i := *first - 1; i >= 0 && t.list[i].totalKey == key {
		return i
	} else if i >= 0 {
		if i, ok := t.others[key]; ok {
			return i
		}
	}
	i := int32(len(t.list))
	if *first == 0 {
		*first = i + 1
	} else {
		if t.others == nil {
			t.others = map[totalKey]int32{}
		}
		t.others[key] = i
	}
	t.list = append(t.list, total{key, when})
	for range t.width {
		t.values = append(t.values, 0)
	}
	return i
}

// bytes is about how much memory t takes.
func (t *totals) bytes() int64 {
	const entry = 32 // of a map, with its free room
	return 4*int64(cap(t.at)) + entry*int64(len(t.others)) + int64(unsafe.Sizeof(total{}))*int64(cap(t.list)) + 8*int64(cap(t.values))
}

// sumSupply gives the samples of a sum.
type sumSupply struct {
	pool    *Pool
	sum     *sum
	size    int64  // of the files
	all     int    // totals, and files with others
	given   int    // of them
	begun   bool   // of the first of single, some
	rest    []byte // the others
	number  uint64 // of the last one
	summed  sample
	another sample
}

func (f *File) takeSum() *sumSupply {
	return &sumSupply{pool: f.pool, sum: f.sum, size: f.header.size, all: len(f.sum.totals.list) + len(f.sum.single)}
}

func (s *sumSupply) next() (*sample, error) {
	if t := &s.sum.totals; s.given < len(t.list) {
		of := &t.list[s.given]
		s.summed = sample{stack: of.stack, owner: owner{labels: of.labels}, values: t.values[s.given*t.width:][:t.width], at: of.at}
		s.given++
		return &s.summed, nil
	}
	for len(s.rest) == 0 {
		if s.drop(); len(s.sum.single) == 0 {
			return nil, io.EOF
		}
		s.rest, s.number, s.begun = s.sum.single[0].data, 0, true
		s.given++
	}
	more, n := binary.Uvarint(s.rest)
	s.number += more
	s.rest = s.another.take(s.rest[n:])
	s.another.at = s.sum.single[0].moment(s.number)
	return &s.another, nil
}

// drop frees what was given.
func (s *sumSupply) drop() {
	freed := s.sum.summed
	s.sum.totals, s.sum.summed = totals{}, 0
	if s.begun {
		freed += s.sum.single[0].bytes()
		s.sum.single[0].data = nil
		s.sum.single = s.sum.single[1:]
	}
	s.pool.kept -= freed
	s.sum.held -= freed
}

func (s *sumSupply) at() int64 {
	return int64(float64(s.size) * float64(s.given) / float64(max(1, s.all)))
}

func (s *sumSupply) odd() anomalies { return anomalies{noted: s.sum.noted} }

func (s *sumSupply) close(t *stream.Tables) error {
	t.Lock()
	defer t.Unlock()
	s.pool.leave(t, int(s.sum.held))
	s.sum.totals, s.sum.single, s.sum.held = totals{}, nil, 0
	return nil
}
