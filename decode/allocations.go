package decode

import (
	"math"

	"gprof/stream"
)

// heapSamples is an allocation block: of objects of one site, how many were
// sampled, until the block before it and since.
type heapSamples struct {
	size, rate                   uint64
	allocated, freed             uint64 // objects since the block before it
	allocatedBefore, freedBefore uint64 // objects until then
}

// allocation makes rows of what samples stand for. The block before it may be
// gone, with what it said; then there are rows of that, too.
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

// addHeap adds a row, unless it is of nothing. The rows of a block have the
// positions of its first bytes, of which there are more.
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

// objects is how many objects n samples stand for that come after others. The
// sum for all of them is rounded once, as runtime/pprof does.
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

// whole rounds down; what nobody can have allocated is as much as there can be.
func whole(n float64) int64 { return int64(min(n, math.MaxInt64/2)) }
