package decode

import (
	"gprof/rawformat"
	"gprof/stream"
)

// handlers is the table of entries. A kind without a handler is counted and
// skipped. A handler reads all its fields before it adds anything: what does
// not parse adds nothing.
var handlers = [256]func(*decoder, *rawformat.Cursor){
	rawformat.KindSync:            (*decoder).sync,
	rawformat.KindContext:         (*decoder).setContext,
	rawformat.KindStack:           (*decoder).inlineStack,
	rawformat.KindSample:          (*decoder).sample,
	rawformat.KindSameSample:      (*decoder).sameSample,
	rawformat.KindInstant:         (*decoder).instant,
	rawformat.KindInterval:        (*decoder).interval,
	rawformat.KindStart:           (*decoder).start,
	rawformat.KindEnd:             (*decoder).end,
	rawformat.KindCounter:         (*decoder).counter,
	rawformat.KindLost:            (*decoder).lost,
	rawformat.KindAnchor:          (*decoder).anchor,
	rawformat.KindPause:           (*decoder).pause,
	rawformat.KindResume:          (*decoder).resume,
	rawformat.KindCollectionStart: (*decoder).collectionStart,
	rawformat.KindCollectionEnd:   (*decoder).collectionEnd,
	rawformat.KindOverhead:        (*decoder).overhead,
	rawformat.KindDelay:           (*decoder).delay,
	rawformat.KindTrackStart:      (*decoder).trackStart,
	rawformat.KindTrackEnd:        (*decoder).trackEnd,
	rawformat.KindThreadStart:     (*decoder).threadStart,
	rawformat.KindThreadEnd:       (*decoder).threadEnd,
	rawformat.KindPage:            (*decoder).page,
	rawformat.KindPageEnd:         (*decoder).pageEnd,
	rawformat.KindLog:             (*decoder).log,
}

func (d *decoder) sync(c *rawformat.Cursor) {
	c.Uint("index") // checked by package chunks, with the epoch
	c.Uint("epoch")
	time, goroutine, track := c.Uint("time"), c.Uint("goroutine"), c.Uint("track")
	if c.Err() == nil {
		d.tick = time
		d.stack = inline{}
		d.setWho(context{goroutine, track, 0})
	}
}

func (d *decoder) setContext(c *rawformat.Cursor) {
	goroutine, track, root := c.Uint("goroutine"), c.Uint("track"), c.Uint("root")
	if c.Err() == nil {
		d.setWho(context{goroutine, track, root})
	}
}

func (d *decoder) inlineStack(c *rawformat.Cursor) {
	d.pcs = c.PCs(d.pcs[:0], "pcs")
	if c.Err() == nil {
		d.stack = inline{d.dict.rawStack(d.pcs), d.entry + 1}
	}
}

func (d *decoder) sample(c *rawformat.Cursor) {
	at, thread, goroutine, track := d.time(c), c.Uint("thread"), c.Uint("goroutine"), c.Uint("track")
	stack, weight, cpu := c.Uint("stack"), c.Uint("weight"), c.Uint("cpu")
	c.Uint("window") // the recorder's "cpu window" markers show it
	if c.Err() != nil {
		return
	}
	sid := d.stackOf(stack)
	d.last[who{thread, goroutine}] = lastSample{sid, track}
	d.addSample(at, sid, track, weight, cpu)
}

func (d *decoder) sameSample(c *rawformat.Cursor) {
	at, thread, goroutine := d.time(c), c.Uint("thread"), c.Uint("goroutine")
	weight, cpu := c.Uint("weight"), c.Uint("cpu")
	if c.Err() != nil {
		return
	}
	last, ok := d.last[who{thread, goroutine}]
	if !ok {
		d.note(stream.ReasonNoStack, "samples", "")
		return
	}
	d.addSample(at, last.stack, last.track, weight, cpu)
}

func (d *decoder) addSample(at stream.Time, sid stream.StackID, track, weight, cpu uint64) {
	id := d.sampleTrack(track, sid)
	b := d.batch(stream.Series{Kind: stream.Samples, Track: id}, 0)
	d.row(b, at)
	b.Stack = append(b.Stack, sid)
	b.Weight = append(b.Weight, int64(weight))
	b.CPU = append(b.CPU, int64(cpu)-1)
}

func (d *decoder) instant(c *rawformat.Cursor) {
	event, stack, at := c.Uint("event"), c.Uint("stack"), d.time(c)
	d.marker(c, event, stack, at, stream.Instant, 0)
}

func (d *decoder) start(c *rawformat.Cursor) {
	event, stack, at := c.Uint("event"), c.Uint("stack"), d.time(c)
	d.marker(c, event, stack, at, stream.PhaseStart, 0)
}

func (d *decoder) end(c *rawformat.Cursor) {
	event, stack, at := c.Uint("event"), c.Uint("stack"), d.time(c)
	d.marker(c, event, stack, at, stream.PhaseEnd, 0)
}

func (d *decoder) interval(c *rawformat.Cursor) {
	event, stack, end := c.Uint("event"), c.Uint("stack"), d.time(c)
	begin := d.moment(d.tick - c.Uint("duration"))
	d.marker(c, event, stack, begin, stream.Interval, int64(end-begin))
}

// marker adds a marker row; the arguments are the rest of the block.
func (d *decoder) marker(c *rawformat.Cursor, event, stack uint64, at stream.Time, phase stream.Phase, duration int64) {
	d.args = c.Args(d.args[:0], "args")
	if c.Err() != nil {
		return
	}
	e := d.dict.event(event, d.args)
	if e.undefined {
		d.note(stream.ReasonUndefined, "events", e.def.Name)
	}
	b := d.batch(stream.Series{Kind: stream.Markers, Track: d.currentTrack(), Event: e.id}, len(e.def.Fields))
	d.row(b, at)
	b.Stack = append(b.Stack, d.stackOf(stack))
	b.Phase = append(b.Phase, phase)
	b.Duration = append(b.Duration, max(duration, 0))
	d.appendArgs(b, e)
}

// appendArgs fills the columns of a marker. What is missing is null; what the
// event has no field for is lost.
func (d *decoder) appendArgs(b *stream.Batch, e *event) {
	for i := range b.Args {
		if i >= len(d.args) {
			b.Args[i].AppendNull()
			continue
		}
		d.appendArg(&b.Args[i], &d.args[i], e.def.Fields[i].Format)
	}
	if len(d.args) > len(b.Args) {
		d.note(stream.ReasonUndefined, "arguments", e.def.Name)
	}
}

func (d *decoder) appendArg(col *stream.Column, a *rawformat.Arg, f stream.Format) {
	switch {
	case a.Wire == rawformat.WireText:
		col.AppendText(a.Text)
	case f == stream.FormatString:
		col.AppendText([]byte(d.text(a.Num)))
	case f == stream.FormatTime:
		col.AppendBits(stream.Int, uint64(d.moment(a.Num)))
	default:
		col.AppendBits(fieldType(uint64(a.Wire)), a.Num)
	}
}

func (d *decoder) counter(c *rawformat.Cursor) {
	at, id, value, number := d.time(c), c.Uint("counter"), c.Sint("value"), c.Uint("number")
	if c.Err() != nil {
		return
	}
	b := d.batch(stream.Series{Kind: stream.Counts, Counter: d.counterID(id)}, 0)
	d.row(b, at)
	b.Value, b.Number = append(b.Value, value), append(b.Number, int64(number))
}

func (d *decoder) lost(c *rawformat.Cursor) {
	d.time(c)
	reason, count, bytes := c.Uint("reason"), c.Uint("count"), c.Uint("bytes")
	if c.Err() != nil {
		return
	}
	what := "unknown reason"
	if reason < uint64(len(rawformat.LostReasons)) {
		what = rawformat.LostReasons[reason]
	}
	d.add(stream.Line{Reason: stream.ReasonDropped, What: what, Count: int64(count), Bytes: int64(bytes)})
}

// anchor entries serve the alignment of clocks, which reads them by itself.
func (d *decoder) anchor(c *rawformat.Cursor) { d.time(c) }

func (d *decoder) pause(c *rawformat.Cursor)  { d.pausing(c, stream.PhaseStart) }
func (d *decoder) resume(c *rawformat.Cursor) { d.pausing(c, stream.PhaseEnd) }

func (d *decoder) pausing(c *rawformat.Cursor, phase stream.Phase) {
	at, what := d.time(c), c.Uint("what")
	reason := int64(stream.PausedAll)
	if rawformat.PauseScope(what) == rawformat.PauseSampling {
		reason = stream.PausedSampling
	}
	d.paused(c, at, phase, reason)
}

func (d *decoder) collectionStart(c *rawformat.Cursor) {
	d.paused(c, d.time(c), stream.PhaseStart, stream.PausedCollecting)
}

func (d *decoder) collectionEnd(c *rawformat.Cursor) {
	d.paused(c, d.time(c), stream.PhaseEnd, stream.PausedCollecting)
}

func (d *decoder) paused(c *rawformat.Cursor, at stream.Time, phase stream.Phase, reason int64) {
	if c.Err() != nil {
		return
	}
	b := d.batch(stream.Series{Kind: stream.Pauses}, 0)
	d.row(b, at)
	b.Phase, b.Duration = append(b.Phase, phase), append(b.Duration, 0)
	b.Value, b.Number = append(b.Value, reason), append(b.Number, 0)
}

func (d *decoder) overhead(c *rawformat.Cursor) {
	at := d.time(c)
	var v [5]uint64
	for i, name := range stream.OverheadFields {
		v[i] = c.Uint(name)
	}
	if c.Err() != nil {
		return
	}
	b := d.batch(stream.Series{Kind: stream.Overheads}, len(v))
	d.row(b, at)
	for i := range v {
		b.Args[i].AppendBits(stream.Int, v[i])
	}
}

func (d *decoder) delay(c *rawformat.Cursor) {
	at, _, delay := d.time(c), c.Uint("thread"), c.Uint("delay")
	if c.Err() != nil {
		return
	}
	b := d.batch(stream.Series{Kind: stream.Delays, Track: d.mainTrack()}, 0)
	d.row(b, at)
	b.Value, b.Number = append(b.Value, int64(delay)), append(b.Number, 0)
}

func (d *decoder) trackStart(c *rawformat.Cursor) {
	at, id := d.time(c), c.Uint("track")
	if c.Err() != nil {
		return
	}
	l := d.life(id)
	if l.start == 0 {
		l.start = at
	}
	l.start, l.again = min(l.start, at), max(l.again, at)
}

func (d *decoder) trackEnd(c *rawformat.Cursor) {
	at, id := d.time(c), c.Uint("track")
	if c.Err() == nil {
		l := d.life(id)
		l.end = max(l.end, at)
	}
}

// Threads are not tracks: a goroutine moves between them.
func (d *decoder) threadStart(c *rawformat.Cursor) { d.time(c) }
func (d *decoder) threadEnd(c *rawformat.Cursor)   { d.time(c) }

func (d *decoder) page(c *rawformat.Cursor) {
	at := d.time(c)
	var v [4]uint64
	for i := range v {
		v[i] = c.Uint(stream.PageFields[i])
	}
	d.addPage(c, at, stream.PhaseStart, v, c.Text("url"))
}

func (d *decoder) pageEnd(c *rawformat.Cursor) {
	at, window := d.time(c), c.Uint("window")
	d.addPage(c, at, stream.PhaseEnd, [4]uint64{1: window}, nil)
}

func (d *decoder) addPage(c *rawformat.Cursor, at stream.Time, phase stream.Phase, v [4]uint64, url []byte) {
	if c.Err() != nil {
		return
	}
	b := d.batch(stream.Series{Kind: stream.Pages}, len(stream.PageFields))
	d.row(b, at)
	b.Phase, b.Duration = append(b.Phase, phase), append(b.Duration, 0)
	for i := range v {
		b.Args[i].AppendBits(stream.Int, v[i])
	}
	b.Args[4].AppendText(url)
}

func (d *decoder) log(c *rawformat.Cursor) {
	at, level, text := d.time(c), c.Uint("level"), c.Text("text")
	if c.Err() != nil {
		return
	}
	b := d.batch(stream.Series{Kind: stream.Logs}, 1)
	d.row(b, at)
	b.Value, b.Number = append(b.Value, int64(min(level, stream.LogError))), append(b.Number, 0)
	b.Args[0].AppendText(text)
}
