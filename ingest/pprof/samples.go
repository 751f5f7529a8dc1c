package pprof

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"

	"gprof/ingest/internal/values"
	"gprof/rawformat/profileproto"
	"gprof/rawformat/protobuf"
	"gprof/stream"
)

// rowMaker turns the samples of a file into rows, some at a time: to look up stacks is to wait for memory, which
// it does for all of them at once.
type rowMaker struct {
	header *header
	code   *code
	rows   *values.Rows
	shift  stream.Time

	number uint64 // of the next sample, from 0
}

// begunRows are samples whose stacks are not there yet. All sources of a pool share their memory.
type begunRows struct {
	list   []begunRow
	outer  []stackID // of each
	values []int64
	frames []stream.FrameID // of inner parts, the innermost first

	stacks []stream.StackID
	paths  [][]stream.FrameID
}

// begunRow is a sample without its stack, and up to where it is in values and frames.
type begunRow struct {
	values.Place
	values, frames int
}

// begin takes a sample.
func (s *rowMaker) begin(m *sample) {
	h := s.header
	at := m.at
	if at == 0 {
		at = h.moment(s.number)
		s.number++
	}
	if len(m.values) == 0 {
		return
	}
	b := &s.code.begun
	b.values = append(b.values, m.values...)
	for _, site := range m.inner {
		for _, frame := range slices.Backward(s.code.framesAt(site)) {
			b.frames = append(b.frames, frame)
		}
	}
	b.list = append(b.list, begunRow{values: len(b.values), frames: len(b.frames)})
	row := &b.list[len(b.list)-1]
	row.At, row.Owner = at+s.shift, s.code.who(m)
	b.outer = append(b.outer, m.stack)
}

// full reports whether so much is begun that it is to be finished.
func (s *rowMaker) full() bool {
	b := &s.code.begun
	return len(b.list) >= together || len(b.frames) >= maxNew
}

// finish adds the rows of the samples that are begun.
func (s *rowMaker) finish() {
	b, stacks := &s.code.begun, &s.code.to.Stacks
	b.stacks, b.paths = s.code.appendStacks(b.stacks[:0], b.outer), b.paths[:0]
	from := 0
	for i := range b.list {
		b.paths = append(b.paths, b.frames[from:b.list[i].frames])
		from = b.list[i].frames
	}
	stacks.FollowAll(b.stacks, b.paths)
	from = 0
	for i := range b.list {
		row := &b.list[i]
		row.Stack = b.stacks[i]
		for _, frame := range slices.Backward(b.paths[i]) {
			row.Stack = stacks.Intern(row.Stack, frame)
		}
		s.rows.Add(b.values[from:row.values], &row.Place)
		from = row.values
	}
	b.list, b.outer, b.values, b.frames = b.list[:0], b.outer[:0], b.values[:0], b.frames[:0]
}

// sample is a sample in ids of a pool. It is stored as the number of its values; if there are any,
// stack, labels, goroutine, the number of inner sites and those; then the values in zigzag; all as
// ULEB128.
type sample struct {
	stack stackID  // the outer part of its stack
	inner []siteID // the rest, the innermost first
	owner
	values []int64     // in our units; none if the sample is damaged
	at     stream.Time // of what was added up; else 0
}

// append appends a sample in stored form.
func (s *sample) append(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s.values)))
	if len(s.values) == 0 {
		return dst
	}
	for _, n := range [...]uint64{uint64(s.stack), uint64(s.labels), uint64(s.goroutine), uint64(len(s.inner))} {
		dst = binary.AppendUvarint(dst, n)
	}
	for _, site := range s.inner {
		dst = binary.AppendUvarint(dst, uint64(site))
	}
	for _, v := range s.values {
		dst = binary.AppendVarint(dst, v)
	}
	return dst
}

// take decodes a stored sample.
func (s *sample) take(data []byte) (rest []byte) {
	next := func() uint64 {
		n, size := binary.Uvarint(data)
		data = data[size:]
		return n
	}
	values := next()
	s.values = s.values[:0]
	if values == 0 {
		return data
	}
	s.stack, s.labels, s.goroutine = stackID(next()), labelsID(next()), int64(next())
	s.inner = s.inner[:0]
	for range next() {
		s.inner = append(s.inner, siteID(next()))
	}
	for range values {
		v, size := binary.Varint(data)
		s.values, data = append(s.values, v), data[size:]
	}
	return data
}

// anomalies counts what is odd in a file, for the ledger.
type anomalies struct {
	definitions, samples int64 // malformed
	inexact              int64 // values that overflow in their unit
	tooDeep              int64 // stacks
	code, labels         int64 // undefined
	noted                map[string]bool
}

// sampleReader reads the samples of a file whose tables are known.
type sampleReader struct {
	plan   *values.Plan
	code   translation
	labels labels
	sample sample // that was read last

	begun  [together]begun
	hashes [together]uint32
	n      int // of those
	paths  []siteID
	values []int64

	packed             []byte   // locations of the sample, unless it has some more
	locations, numbers []uint64 // scratch
	malformed, inexact int64
}

// begun is a parsed sample whose stack is not looked up: up to where it is in paths and values.
type begun struct {
	owner
	path, values int
	bad          bool
}

func (r *sampleReader) reset(from *tables, to *Pool, plan *values.Plan) {
	r.plan = plan
	r.code.reset(from, to)
	r.labels.reset(&from.texts, to)
	r.malformed, r.inexact = 0, 0
}

// read reads the message of a sample.
func (r *sampleReader) read(body []byte) {
	r.begin(body)
	r.finish(func() {})
}

// begin parses the message of a sample, of which up to together may be begun.
func (r *sampleReader) begin(body []byte) {
	b := begun{bad: !r.parse(body)}
	if b.bad {
		r.malformed++
	} else {
		r.path()
		b.owner = r.labels.owner()
		r.scale()
	}
	b.path, b.values = len(r.paths), len(r.values)
	r.begun[r.n] = b
	r.n++
}

// path looks up the sites of the sample that was parsed.
func (r *sampleReader) path() {
	if len(r.locations) == 0 {
		var ok bool
		if r.paths, r.hashes[r.n], ok = r.code.appendPacked(r.paths, r.packed); ok {
			return
		}
		r.unpack()
	}
	r.paths, r.hashes[r.n] = r.code.appendPath(r.paths, r.locations)
}

// unpack makes numbers of packed locations.
func (r *sampleReader) unpack() {
	v := protobuf.Field{Wire: protobuf.Bytes, Bytes: r.packed}
	r.locations, _ = v.Numbers(r.locations, maxStack+1)
	r.packed = nil
}

// finish looks up the stacks of the samples that are begun, and makes each the one that was read last.
func (r *sampleReader) finish(each func()) {
	pool := r.code.to
	if r.n > 1 {
		pool.wholes.approach(r.hashes[:r.n])
	}
	var stacks [together]stackID
	var paths, inner [together][]siteID
	from := 0
	for i := range r.begun[:r.n] {
		paths[i] = r.paths[from:r.begun[i].path]
		if stacks[i] = pool.wholes.find(r.hashes[i], paths[i]); stacks[i] == 0 {
			inner[i] = paths[i]
		}
		from = r.begun[i].path
	}
	whole := stacks
	pool.stacks.FollowAll(stacks[:r.n], inner[:r.n])
	values := 0
	for i := range r.begun[:r.n] {
		b := &r.begun[i]
		r.sample = sample{owner: b.owner, values: r.values[values:b.values], stack: whole[i]}
		if whole[i] == 0 {
			r.sample.stack, r.sample.inner = r.code.stack(stacks[i], inner[i], paths[i], r.hashes[i])
		}
		values = b.values
		each()
	}
	r.n, r.paths, r.values = 0, r.paths[:0], r.values[:0]
}

// parse parses all that needs no pool. It is not ok if the sample is damaged or has a wrong number
// of values.
func (r *sampleReader) parse(body []byte) (ok bool) {
	r.packed, r.locations, r.numbers = nil, r.locations[:0], r.numbers[:0]
	r.labels.begin()
	ok = true
	m := protobuf.Message{Rest: body}
	for v, more := m.Read(); more; v, more = m.Read() {
		switch v.Number {
		case profileproto.SampleLocations:
			r.unpack()
			if v.Wire == protobuf.Bytes && len(r.locations) == 0 {
				r.packed = v.Bytes
			} else {
				r.locations, _ = v.Numbers(r.locations, maxStack+1)
			}
		case profileproto.SampleValues:
			var whole bool
			r.numbers, whole = v.Numbers(r.numbers, r.plan.Len())
			ok = ok && whole
		case profileproto.SampleLabel:
			r.labels.add(v.Bytes)
		}
	}
	return ok && !m.Bad && len(r.numbers) == r.plan.Len()
}

// scale converts the values to our units.
func (r *sampleReader) scale() {
	for i, n := range r.numbers {
		v, exact := r.plan.Scale(i, int64(n))
		if !exact {
			r.inexact++
		}
		r.values = append(r.values, v)
	}
}

// odd are the anomalies so far.
func (r *sampleReader) odd() anomalies {
	return anomalies{definitions: r.code.from.malformed, samples: r.malformed, inexact: r.inexact,
		tooDeep: r.code.tooDeep, code: r.code.undefined, labels: r.labels.undefined, noted: r.labels.noted}
}

// labels turns the labels of a file's samples into owners.
type labels struct {
	from *texts
	to   *Pool

	known map[string]owner // by messages
	raw   []byte           // messages of the current sample, each after its length
	list  []stream.Attr

	undefined int64           // missing names
	noted     map[string]bool // whether all labels of a key are numbers
}

// owner is whose a sample is: a goroutine's, 0 unknown, with labels.
type owner struct {
	goroutine int64
	labels    labelsID
}

// Keys with a meaning: goroutines by number, and the size of allocated objects, which bytes and
// objects tell as well.
const (
	goroutineKey = "goroutine"
	sizeKey      = "bytes"
)

// maxKnown bounds the cached sets, because labels may differ each time.
const maxKnown = 1 << 14

func (l *labels) reset(from *texts, to *Pool) {
	*l = labels{from: from, to: to, raw: l.raw[:0], list: l.list[:0]}
}

func (l *labels) begin() { l.raw = l.raw[:0] }

// add adds the message of a label.
func (l *labels) add(body []byte) {
	l.raw = binary.AppendUvarint(l.raw, uint64(len(body)))
	l.raw = append(l.raw, body...)
}

// owner is the owner of the sample.
func (l *labels) owner() owner {
	if len(l.raw) == 0 {
		return owner{}
	}
	if w, ok := l.known[string(l.raw)]; ok {
		return w
	}
	if l.known == nil || len(l.known) == maxKnown {
		l.known = make(map[string]owner)
	}
	w := l.parse()
	l.known[string(l.raw)] = w
	return w
}

func (l *labels) parse() (w owner) {
	l.list = l.list[:0]
	for rest := l.raw; len(rest) > 0; {
		size, n := binary.Uvarint(rest)
		l.label(rest[n:n+int(size)], &w)
		rest = rest[n+int(size):]
	}
	if len(l.list) > 0 {
		w.labels = l.to.labels.Intern(stream.NewLabelSet(joinValues(l.list)...))
	}
	return w
}

// joinValues joins several values of one key, in place: a pprof label may be a list, ours are not.
func joinValues(list []stream.Attr) []stream.Attr {
	slices.SortStableFunc(list, func(a, b stream.Attr) int { return cmp.Compare(a.Key, b.Key) })
	joined := list[:0]
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].Key == list[0].Key {
			n++
		}
		one := list[0]
		if n > 1 {
			one.Value = joinedValue(list[:n])
		}
		joined, list = append(joined, one), list[n:]
	}
	return joined
}

func joinedValue(list []stream.Attr) string {
	var values []string
	for _, a := range list {
		values = append(values, a.Value)
	}
	return strings.Join(values, ", ")
}

// label parses one label.
func (l *labels) label(body []byte, w *owner) {
	var n protobuf.Numbers
	n.Read(body)
	key, text, unit := n[profileproto.LabelKey], n[profileproto.LabelText], n[profileproto.LabelUnit]
	number := int64(n[profileproto.LabelNumber])
	attr := stream.Attr{Key: l.text(key), Value: l.text(text)}
	if attr.Key == goroutineKey && text == 0 && unit == 0 && number > 0 && number < math.MaxInt64 {
		w.goroutine = number
		return
	}
	if text == 0 {
		attr.Value = withUnit(number, l.text(unit))
	}
	l.note(attr.Key, text == 0)
	l.list = append(l.list, attr)
}

// maxNoted bounds the keys that are noted of a file.
const maxNoted = 1 << 10

// note notes whether a label is a number.
func (l *labels) note(key string, number bool) {
	was, ok := l.noted[key]
	switch {
	case ok:
		l.noted[key] = was && number
	case len(l.noted) < maxNoted:
		if l.noted == nil {
			l.noted = make(map[string]bool)
		}
		l.noted[key] = number
	}
}

func withUnit(n int64, unit string) string {
	s := strconv.FormatInt(n, 10)
	if unit != "" {
		s += " " + unit
	}
	return s
}

func (l *labels) text(n uint64) string {
	s, ok := l.from.get(n)
	if !ok && n != 0 {
		l.undefined++
	}
	return string(s)
}
