package decode

import (
	"math"

	"gprof/rawformat"
	"gprof/stream"
)

// handlers is the table of entries. A kind without a handler is counted and skipped. A handler is
// called when all fields are parsed: a malformed entry adds nothing.
var handlers = [256]func(*worker, *entry){
	rawformat.KindSync:            (*worker).sync,
	rawformat.KindContext:         (*worker).setContext,
	rawformat.KindBegan:           (*worker).setStart,
	rawformat.KindLabels:          (*worker).setLabels,
	rawformat.KindStack:           (*worker).stackBlock,
	rawformat.KindSample:          (*worker).sample,
	rawformat.KindSameSample:      (*worker).sameSample,
	rawformat.KindSampling:        (*worker).setSampling,
	rawformat.KindBusy:            (*worker).busy,
	rawformat.KindBusyFor:         (*worker).busyFor,
	rawformat.KindIdle:            (*worker).idle,
	rawformat.KindInstant:         (*worker).instant,
	rawformat.KindInterval:        (*worker).interval,
	rawformat.KindStart:           (*worker).markStart,
	rawformat.KindEnd:             (*worker).markEnd,
	rawformat.KindCounter:         (*worker).counter,
	rawformat.KindLost:            (*worker).lost,
	rawformat.KindAnchor:          (*worker).nothing, // the alignment of clocks reads them by itself
	rawformat.KindPause:           (*worker).pause,
	rawformat.KindResume:          (*worker).resume,
	rawformat.KindCollectionStart: (*worker).collectionStart,
	rawformat.KindCollectionEnd:   (*worker).collectionEnd,
	rawformat.KindOverhead:        (*worker).overhead,
	rawformat.KindDelay:           (*worker).delay,
	rawformat.KindTrackStart:      (*worker).trackStart,
	rawformat.KindTrackEnd:        (*worker).trackEnd,
	rawformat.KindThreadStart:     (*worker).nothing, // threads are not tracks: a goroutine moves between them
	rawformat.KindThreadEnd:       (*worker).nothing,
	rawformat.KindPage:            (*worker).page,
	rawformat.KindPageEnd:         (*worker).pageEnd,
	rawformat.KindLog:             (*worker).log,
	rawformat.KindAllocation:      (*worker).allocation,
	rawformat.KindWait:            (*worker).goroutinesWait,
	rawformat.KindWaiting:         (*worker).goroutineWaits,
	rawformat.KindOffCPU:          (*worker).offCPU,
	rawformat.KindPlaced:          (*worker).placed,
}

// nothing handles entries of which only the time counts.
func (w *worker) nothing(*entry) {}

// sync was checked by package chunks.
func (w *worker) sync(e *entry) {
	w.tick = e.v[2]
	w.stack, w.labels, w.sampling = noStackBlock, 0, sampling{}
	w.setWho(context{goroutine: e.v[3], track: e.v[4]})
}

func (w *worker) setContext(e *entry) {
	w.setWho(context{goroutine: e.v[0], track: e.v[1], root: e.v[2]})
}

func (w *worker) setStart(e *entry) { w.context.start, w.where = e.v[0], nil }

func (w *worker) setLabels(e *entry) { w.labels = w.labelSet(e.v[0]) }

func (w *worker) stackBlock(e *entry) {
	w.run.tables.Lock()
	defer w.run.tables.Unlock()
	w.stack = inlineStackRef{w.view.dict.rawStack(&w.run.names, e.pcs), w.next}
}

// row begins a row.
func (w *worker) row(b *stream.Batch, at stream.Time) {
	b.Time = append(b.Time, at)
	b.Index = append(b.Index, w.index)
	w.rows.count++
}

func (w *worker) instant(e *entry)   { w.marker(e, e.at, stream.Instant, 0) }
func (w *worker) markStart(e *entry) { w.marker(e, e.at, stream.PhaseStart, 0) }
func (w *worker) markEnd(e *entry)   { w.marker(e, e.at, stream.PhaseEnd, 0) }

func (w *worker) interval(e *entry) {
	begin := w.moment(w.tick - e.v[3])
	w.marker(e, begin, stream.Interval, int64(e.at-begin))
}

// placed adds a marker whose times the program gave. A phase of a later version can't be shown.
func (w *worker) placed(e *entry) {
	phase, begin := stream.Phase(e.v[3]), int64(w.tick)+rawformat.Unzigzag(e.v[4])
	at := w.signedMoment(begin)
	end := at
	if phase == stream.Interval {
		end = w.signedMoment(begin + int64(e.v[5]))
	}
	if e.v[3] > uint64(stream.PhaseEnd) || end < at {
		w.note(stream.ReasonMalformed, "blocks", rawformat.Kinds[rawformat.KindPlaced].Name)
		return
	}
	w.placedFirst, w.placedLast = min(w.placedFirst, at), max(w.placedLast, end)
	w.marker(e, at, phase, int64(end-at))
}

// marker adds a marker row.
func (w *worker) marker(e *entry, at stream.Time, phase stream.Phase, duration int64) {
	ev := w.event(e.v[0], e.args)
	if ev.undefined {
		w.note(stream.ReasonUndefined, "events", ev.def.Name)
	}
	b := w.markers(w.currentLane(), ev)
	w.row(b, at)
	b.AppendOwner(stream.Owner{Goroutine: known(w.context.goroutine), Labels: w.labels})
	b.Stack = append(b.Stack, w.stackOf(e.v[1]))
	b.Phase = append(b.Phase, phase)
	b.Duration = append(b.Duration, max(duration, 0))
	w.appendArgs(b, ev, e)
}

// appendArgs fills the columns of a marker. Missing arguments are null; those without a field are
// lost. A number that is unique within the process only is combined with the instance, which is
// random.
func (w *worker) appendArgs(b *stream.Batch, ev *event, e *entry) {
	for i := range b.Args {
		if i >= len(e.args) {
			b.Args[i].AppendNull()
			continue
		}
		switch number := e.args[i].wire <= rawformat.WireUint; {
		case number && ev.local>>i&1 != 0:
			e.args[i].num ^= w.job.process.Found.Instance
		case number && ev.moments>>i&1 != 0:
			b.Args[i].AppendBits(stream.Int, uint64(w.job.process.moment(e.args[i].num)))
			continue
		}
		w.appendArg(&b.Args[i], e, &e.args[i], ev.def.Fields[i].Format)
	}
	if len(e.args) > len(b.Args) {
		w.note(stream.ReasonUndefined, "arguments", ev.def.Name)
	}
}

func (w *worker) appendArg(col *stream.Column, e *entry, a *arg, f stream.Format) {
	switch {
	case a.wire == rawformat.WireText && (f == stream.FormatTraceID || f == stream.FormatSpanID):
		w.appendID(col, e.textOf(a), f)
	case a.wire == rawformat.WireText:
		col.AppendText(e.textOf(a))
	case a.wire == rawformat.WireFloat: // is none of the numbers below
		col.AppendBits(stream.Float, a.num)
	case f == stream.FormatString:
		col.AppendText(w.text(a.num))
	case f == stream.FormatTime:
		col.AppendBits(stream.Int, uint64(w.moment(a.num)))
	default:
		col.AppendBits(fieldTypes[a.wire&3], a.num)
	}
}

func (w *worker) counter(e *entry) {
	b := w.counts(e.v[1])
	w.row(b, e.at)
	b.Value, b.Number = append(b.Value, rawformat.Unzigzag(e.v[2])), append(b.Number, int64(e.v[3]))
}

func (w *worker) lost(e *entry) {
	what, reason := "unknown reason", stream.ReasonDropped
	if reason := e.v[1]; reason < uint64(len(rawformat.LostReasons)) {
		what = rawformat.LostReasons[reason]
	}
	if rawformat.LostReason(e.v[1]) == rawformat.LostDeep {
		reason = stream.ReasonDeep // all that was sampled is there
	}
	w.add(stream.Line{Reason: reason, What: what, Count: int64(e.v[2]), Bytes: int64(e.v[3])})
}

func (w *worker) pause(e *entry)  { w.pausing(e, stream.PhaseStart) }
func (w *worker) resume(e *entry) { w.pausing(e, stream.PhaseEnd) }

func (w *worker) pausing(e *entry, phase stream.Phase) {
	reason := int64(stream.PausedAll)
	if rawformat.PauseScope(e.v[1]) == rawformat.PauseSampling {
		reason = stream.PausedSampling
	}
	w.paused(e, phase, reason)
}

func (w *worker) collectionStart(e *entry) { w.paused(e, stream.PhaseStart, stream.PausedCollecting) }
func (w *worker) collectionEnd(e *entry)   { w.paused(e, stream.PhaseEnd, stream.PausedCollecting) }

func (w *worker) paused(e *entry, phase stream.Phase, reason int64) {
	b := w.series(stream.Pauses, 0)
	w.row(b, e.at)
	b.Phase, b.Duration = append(b.Phase, phase), append(b.Duration, 0)
	b.Value, b.Number = append(b.Value, reason), append(b.Number, 0)
}

func (w *worker) overhead(e *entry) {
	b := w.series(stream.Overheads, len(stream.OverheadFields))
	w.row(b, e.at)
	for i := range b.Args {
		b.Args[i].AppendBits(stream.Int, e.v[1+i])
	}
}

func (w *worker) delay(e *entry) {
	main := w.view.main
	b := w.rows.in(&main.delays, stream.Series{Process: w.job.process.ID, Kind: stream.Delays, Track: main.id}, 0)
	w.row(b, e.at)
	b.Value, b.Number = append(b.Value, int64(e.v[2])), append(b.Number, 0)
}

func (w *worker) trackStart(e *entry) {
	w.live(e.v[1], func(l *life) {
		if l.start == 0 {
			l.start = e.at
		}
		l.start, l.again = min(l.start, e.at), max(l.again, e.at)
	})
}

func (w *worker) trackEnd(e *entry) {
	w.live(e.v[1], func(l *life) { l.end = max(l.end, e.at) })
}

func (w *worker) page(e *entry) {
	w.addPage(e, stream.PhaseStart, [4]uint64(e.v[1:5]), e.text)
}

func (w *worker) pageEnd(e *entry) {
	w.addPage(e, stream.PhaseEnd, [4]uint64{1: e.v[1]}, nil)
}

func (w *worker) addPage(e *entry, phase stream.Phase, v [4]uint64, url []byte) {
	b := w.series(stream.Pages, len(stream.PageFields))
	w.row(b, e.at)
	b.Phase, b.Duration = append(b.Phase, phase), append(b.Duration, 0)
	for i := range v {
		b.Args[i].AppendBits(stream.Int, v[i])
	}
	b.Args[4].AppendText(url)
}

func (w *worker) log(e *entry) {
	b := w.series(stream.Logs, 1)
	w.row(b, e.at)
	b.Value, b.Number = append(b.Value, int64(min(e.v[1], stream.LogError))), append(b.Number, 0)
	b.Args[0].AppendText(e.text)
}

// heapSamples is an allocation block: the sampled objects of one site, up to the block before it
// and since.
type heapSamples struct {
	size, rate                   uint64
	allocated, freed             uint64 // objects since the block before
	allocatedBefore, freedBefore uint64 // objects up to the block before
}

// allocation adds rows for what samples stand for. If the block before is gone, with what it said,
// there are rows of that, too.
func (w *worker) allocation(e *entry) {
	h := heapSamples{e.v[2], e.v[3], e.v[4], e.v[5], e.v[6], e.v[7]}
	stack := w.stackOf(e.v[1])
	index := w.index
	if previous := e.v[8]; previous < w.job.process.Found.Held {
		w.addHeap(e, stack, stream.PhaseStart, h.bytes(0, h.allocatedBefore), h.objects(0, h.allocatedBefore))
		w.addHeap(e, stack, stream.PhaseStart, -h.bytes(0, h.freedBefore), h.objects(0, h.freedBefore))
	}
	w.addHeap(e, stack, stream.Instant, h.bytes(h.allocatedBefore, h.allocated), h.objects(h.allocatedBefore, h.allocated))
	w.addHeap(e, stack, stream.Instant, -h.bytes(h.freedBefore, h.freed), h.objects(h.freedBefore, h.freed))
	w.index = index
}

// addHeap adds a row, unless it is empty. The rows of a block have the positions of its first
// bytes, of which there are more.
func (w *worker) addHeap(e *entry, stack stream.StackID, phase stream.Phase, bytes, objects int64) {
	if bytes == 0 && objects == 0 {
		return
	}
	main := w.view.main
	b := w.rows.in(&main.allocations, stream.Series{Process: w.job.process.ID, Kind: stream.Allocations, Track: main.id}, 0)
	w.row(b, e.at)
	w.index++
	b.Stack = append(b.Stack, stack)
	b.Phase, b.Duration = append(b.Phase, phase), append(b.Duration, 0)
	b.Value, b.Number = append(b.Value, bytes), append(b.Number, objects)
}

// objects is how many objects n samples after others stand for. The sum of all is rounded once, as
// in runtime/pprof.
func (h *heapSamples) objects(before, n uint64) int64 {
	return whole(h.scale()*plus(before, n)) - whole(h.scale()*float64(before))
}

func (h *heapSamples) bytes(before, n uint64) int64 {
	each := h.scale() * float64(h.size)
	return whole(each*plus(before, n)) - whole(each*float64(before))
}

// plus adds without overflow.
func plus(a, b uint64) float64 { return float64(a) + float64(b) }

// scale is how many objects a sample stands for.
func (h *heapSamples) scale() float64 {
	if h.rate <= 1 || h.size == 0 {
		return 1
	}
	return 1 / -math.Expm1(-float64(h.size)/float64(h.rate))
}

// whole rounds down, and saturates.
func whole(n float64) int64 { return int64(min(n, math.MaxInt64/2)) }
