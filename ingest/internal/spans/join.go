package spans

import (
	"errors"
	"io"
	"sync"

	"gprof/stream"
)

// Join returns src, whose samples name their spans. What waits is kept in files in dir; "" is
// os.TempDir. It closes src if it can be closed.
func Join(src stream.Source, dir string) stream.Source {
	return &joined{Wrapper: stream.Wrapper{Source: src}, spans: newStore(dir), waiting: stream.NewGroupedSpool(dir)}
}

// joined is a Source whose samples wait for spans.
type joined struct {
	stream.Wrapper
	events  []fields // by EventID
	spans   *store
	waiting *stream.Spool
	spare   stream.Batch
	order   []int32
	mu      sync.Mutex // all of this, when it is spread

	replaying bool
	process   stream.ProcessID // whose spans are in lines
	lines     timelines
}

// fields are the arguments by which markers of an event are spans.
type fields struct {
	stream.SpanFields
	known bool
}

// Next implements [stream.Source].
func (j *joined) Next(b *stream.Batch) error {
	for !j.replaying {
		err := j.Source.Next(b)
		if errors.Is(err, io.EOF) {
			j.replaying = true
			j.waiting.Rewind()
			break
		}
		if err == nil {
			err = j.pass(b)
		}
		if errors.Is(err, errFull) {
			err = io.EOF
			b.Reset(stream.Series{}, 0)
		}
		if err != nil || b.Len() > 0 {
			return err
		}
	}
	return j.replay(b)
}

// errFull ends reading when the tables are full, which Copy will find, too.
var errFull = errors.New("tables are full")

// Spread implements [stream.Spreader].
func (j *joined) Spread(taker func() stream.Taker) error {
	err := stream.Spread(j.Source, func() stream.Taker { return &joinTaker{Taker: taker(), of: j} })
	switch {
	case errors.Is(err, errFull):
		return nil
	case err != nil:
		return err
	}
	j.replaying = true
	j.waiting.Rewind()
	return stream.Spread(replayed{j.Wrapper, j}, taker)
}

// joinTaker takes out what must wait.
type joinTaker struct {
	stream.Taker
	of  *joined
	one stream.Batch // of a mixture
}

// Take implements [stream.Taker].
func (t *joinTaker) Take(b *stream.Batch) error {
	if err := t.of.pass(b); err != nil || b.Len() == 0 {
		return err
	}
	return t.Taker.Take(b)
}

// TakeMixture implements [stream.Taker].
func (t *joinTaker) TakeMixture(m stream.Mixture) error {
	if t.of.anyTraced(m) {
		return stream.Unmix(m, &t.one, t.Take)
	}
	return t.Taker.TakeMixture(m)
}

// anyTraced reports whether a mixture has rows of a process that records spans.
func (j *joined) anyTraced(m stream.Mixture) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	last := stream.ProcessID(0)
	for i := range m.Series() {
		if len(m.Rows(i)) == 0 {
			continue
		}
		if p := m.Of(i).Process; p != last {
			if j.isTraced(p) {
				return true
			}
			last = p
		}
	}
	return false
}

// pass takes out of b what must wait.
func (j *joined) pass(b *stream.Batch) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.waits(b) {
		return nil
	}
	if j.Full() {
		return errFull
	}
	return j.see(b)
}

// replayed is the rows of a Source that have waited.
type replayed struct {
	stream.Wrapper
	of *joined
}

// Next implements [stream.Source].
func (r replayed) Next(b *stream.Batch) error { return r.of.replay(b) }

// waits reports whether rows of b must wait, or are spans.
func (j *joined) waits(b *stream.Batch) bool {
	k := b.Series.Kind
	if k.Columns()&stream.UsesOwner == 0 || !j.isTraced(b.Series.Process) {
		return false
	}
	if k == stream.Markers {
		return j.fieldsOf(b.Series.Event).Any()
	}
	return len(b.Goroutine) > 0
}

// isTraced reports whether a process records spans. That is set before its first row, so it takes no lock, for which
// one row of each of thousands would wait.
func (j *joined) isTraced(id stream.ProcessID) bool { return j.Tables().Process(id).Traced }

func (j *joined) fieldsOf(id stream.EventID) *fields {
	for len(j.events) <= int(id) {
		j.events = append(j.events, fields{})
	}
	f := &j.events[id]
	if !f.known {
		t := j.Tables()
		t.Lock()
		f.SpanFields = t.Event(id).SpanFields()
		t.Unlock()
		f.known = true
	}
	return f
}

// see takes what must wait out of b, and notes spans.
func (j *joined) see(b *stream.Batch) error {
	if b.Series.Kind != stream.Markers {
		err := j.waiting.Write(b)
		b.Reset(b.Series, len(b.Args))
		return err
	}
	f := j.fieldsOf(b.Series.Event)
	j.order = j.order[:0]
	starts := 0
	for i := range b.Time {
		if s, ok := f.At(b, i); ok && b.Phase[i] != stream.Instant && (s.ID != 0 || b.Phase[i] == stream.Interval) {
			j.spans.add(b.Series.Process, newSpan(b, i, s))
			if b.Phase[i] == stream.PhaseStart {
				starts++
				continue
			}
		}
		j.order = append(j.order, int32(i))
	}
	j.claim()
	if starts > 0 {
		return j.keepStarts(b)
	}
	return j.spans.file.Err()
}

// keepStarts has the rows of b wait that are not in order.
func (j *joined) keepStarts(b *stream.Batch) error {
	j.spare.Reset(b.Series, len(b.Args))
	next := 0
	for i := range b.Time {
		if next < len(j.order) && j.order[next] == int32(i) {
			next++
			continue
		}
		j.spare.AppendRows(b, i, i+1)
	}
	if err := j.waiting.Write(&j.spare); err != nil {
		return err
	}
	b.Select(j.order, &j.spare)
	return j.spans.file.Err()
}

// replay returns what has waited, a process after the other.
func (j *joined) replay(b *stream.Batch) error {
	for {
		if err := j.waiting.Next(b); err != nil {
			b.Reset(stream.Series{}, 0)
			j.lines = timelines{}
			j.claim()
			return err
		}
		if j.process != b.Series.Process {
			j.process = b.Series.Process
			all, err := j.spans.take(j.process)
			if err != nil {
				return err
			}
			j.lines = newTimelines(all)
			j.claim()
		}
		if b.Series.Kind == stream.Markers {
			j.dropAnnounced(b)
		} else {
			j.nameSpans(b)
		}
		if b.Len() > 0 {
			return nil
		}
	}
}

// dropAnnounced leaves out the starts whose intervals are there.
func (j *joined) dropAnnounced(b *stream.Batch) {
	f := j.fieldsOf(b.Series.Event)
	j.order = j.order[:0]
	for i := range b.Time {
		if s, ok := f.At(b, i); !ok || !j.lines.isAnnounced(b.Series.Event, s) {
			j.order = append(j.order, int32(i))
		}
	}
	if len(j.order) < b.Len() {
		b.Select(j.order, &j.spare)
	}
}

// nameSpans sets the spans of samples that have none. One that stands for none repeats what a
// thread did before it was idle, and belongs to no span of now.
func (j *joined) nameSpans(b *stream.Batch) {
	for i := range b.Time {
		if b.Series.Kind == stream.Samples && b.Weight[i] == 0 {
			continue
		}
		if w := b.Owner(i); w.Goroutine != 0 && w.Span == (stream.Span{}) {
			if s := j.lines.at(w.Goroutine, b.Time[i]); s != (stream.Span{}) {
				b.SetSpan(i, s)
			}
		}
	}
}

// claim tells the tables how much memory spans take.
func (j *joined) claim() {
	if now := j.spans.bytes() + j.lines.bytes(); now != j.spans.claim.Bytes() {
		t := j.Tables()
		t.Lock()
		defer t.Unlock()
		j.spans.claim.Set(t, now)
	}
}

// Close implements [io.Closer].
func (j *joined) Close() error {
	j.waiting.Close()
	j.spans.file.Close() // it is not needed any more, so errors don't matter
	return j.Wrapper.Close()
}
