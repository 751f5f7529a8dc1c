package keeper

import (
	"math"

	"gprof/rawformat"
	"gprof/recorder/internal/backlog"
	"gprof/recorder/internal/counters"
	"gprof/recorder/internal/registry"
	"gprof/recorder/internal/rt"
	"gprof/recorder/internal/shard"
)

const (
	// nearShare bounds the cost of pictures near a limit, as heapShare does elsewhere: 0.3 % of a
	// processor.
	nearShare = 333

	// sitesPerPicture is how many sites of a close picture are written in a round: as a rule all.
	sitesPerPicture = 1024

	// searches is how often the list of the backlog is searched for in vain.
	searches = 5
)

// picture is one reading of the heap profile on its way into the recording. If memory is scarce it is close:
// it has all samples, and a marker says how much of the heap they explain.
type picture struct {
	near, close bool
	begun       rt.Tick
	cost, fresh rt.Time // CPU time, and that part of it which comes once: for new stacks, and the search
	published   float64 // bytes in use, by samples that the runtime has published
	explained   float64 // by all samples
	whole       bool    // these include what was allocated since the last garbage collection

	backlog  backlog.Backlog
	searched int
}

// begin begins a picture.
func (p *picture) begin(k *Keeper, h *heapMeter) {
	p.near, p.close = h.near.every(h.period) < h.period, h.near.close()
	p.begun = k.rec.Clock().Now()
	p.fresh = 0
	p.whole = false
}

// sites is how many sites are written in a round.
func (p *picture) sites() int {
	if p.close {
		return sitesPerPicture
	}
	return sitesPerRound
}

// read reads the runtime's buckets, once their list is found. It reports whether it did.
func (p *picture) read(h *heapMeter) bool {
	if !p.backlog.Found() && p.searched < searches {
		p.fresh += costOf(func() { p.find(h) })
	}
	buckets, ok := p.backlog.Read()
	if p.whole = ok && p.close; !ok {
		return false
	}
	h.buckets = buckets
	h.placed = append(h.placed, make([]*heapSite, len(buckets)-len(h.placed))...)
	return true
}

// find searches for the list of buckets, by the records of the last reading, or by new ones; they are not needed any more if
// it is found.
func (p *picture) find(h *heapMeter) {
	if p.backlog.Find(h.records) != nil {
		h.take()
		if p.backlog.Find(h.records) != nil {
			p.searched++
			return
		}
	}
	h.records = nil
}

// count adds what the objects in use take that the samples of a site stand for.
func (p *picture) count(size int64, rate int, published, all tally) {
	if all.inUse() <= 0 {
		return
	}
	each := float64(size)
	if rate > 1 {
		each /= -math.Expm1(-each / float64(rate))
	}
	p.published += each * float64(max(0, published.inUse()))
	p.explained += each * float64(all.inUse())
}

// end says how good a close picture is.
func (p *picture) end(k *Keeper, h *heapMeter) {
	if !p.close {
		return
	}
	room := h.near.rooms[h.near.nearest]
	values := [...]shard.Typed{shard.Type(counters.RoomNames[h.near.nearest]), shard.Type(uint64(max(0, room.Used))), shard.Type(uint64(room.Limit)),
		shard.Type(value(&h.samples[sampleHeap])), shard.Type(uint64(p.explained)), shard.Type(uint64(max(0, p.explained-p.published))), shard.Type(p.whole),
		shard.Type(uint64(len(h.order))), shard.Type(uint64(p.cost)), shard.Type(uint64(h.due() - h.begun)), shard.Type(uint64(p.fresh))}
	k.rec.ProcessInterval(pictureEvent, p.begun, k.rec.Clock().Now(), values[:]...)
}

// pictureEvent is the marker for a close picture: it begins when the heap was read, and ends when all was
// written.
var pictureEvent = shard.Handle{Event: registry.Defined.Event(&registry.EventSpec{Name: rawformat.EventHeapPicture, Category: [3]string{"Memory", "blue"},
	Display: rawformat.ShowChart | rawformat.ShowTable | rawformat.ShowMemory,
	Fields: []registry.FieldSpec{
		labelled("limit that is near", textField("limit")),
		labelled("memory that counts", numberField("used", rawformat.WireUint, rawformat.FormatBytes)),
		labelled("of at most", numberField("most", rawformat.WireUint, rawformat.FormatBytes)),
		numberField("heap", rawformat.WireUint, rawformat.FormatBytes),
		labelled("of it explained by samples", numberField("explained", rawformat.WireUint, rawformat.FormatBytes)),
		labelled("allocated since the last collection", numberField("recent", rawformat.WireUint, rawformat.FormatBytes)),
		labelled("that is known", numberField("whole", rawformat.WireUint, rawformat.FormatInteger)),
		numberField("sites", rawformat.WireUint, rawformat.FormatInteger),
		labelled("CPU time", numberField("cost", rawformat.WireUint, rawformat.FormatNanoseconds)),
		labelled("next one after", numberField("next", rawformat.WireUint, rawformat.FormatNanoseconds)),
		labelled("CPU time that places took which are new", numberField("once", rawformat.WireUint, rawformat.FormatNanoseconds)),
	}})}
