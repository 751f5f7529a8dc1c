package keeper

import (
	"math"
	"runtime"

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

	// completions is how often a picture is begun anew because the runtime published meanwhile.
	completions = 3

	// searches is how often the list of the backlog is searched for in vain.
	searches = 5
)

// picture is one reading of the heap profile on its way into the recording. If memory is scarce it is close:
// it has all samples, and a marker says how much of the heap they explain.
type picture struct {
	close       bool
	begun       rt.Tick
	cost, fresh rt.Time // CPU time, and that part of it which comes once: for new stacks, and the search
	published   int64   // bytes in use, by samples that the runtime has published
	explained   int64   // by all samples
	whole       bool    // these include what was allocated since the last garbage collection

	backlog  backlog.Backlog
	searched int
}

// begin begins a picture.
func (p *picture) begin(k *Keeper, h *heapMeter) {
	p.close = h.near.close()
	p.begun = k.rec.Clock().Now()
	p.fresh = 0
}

// sites is how many sites are written in a round.
func (p *picture) sites() int {
	if p.close {
		return sitesPerPicture
	}
	return sitesPerRound
}

// complete adds what the runtime has not published to the records.
func (p *picture) complete(h *heapMeter) {
	if p.searched < searches {
		p.fresh += costOf(func() {
			if p.backlog.Find(h.records) != nil {
				p.searched++
			}
		})
	}
	for range completions {
		p.published = inUse(h.records)
		if p.whole = p.backlog.Add(h.records); p.whole {
			break
		}
		h.take()
	}
	p.explained = inUse(h.records)
}

// end says how good a close picture is.
func (p *picture) end(k *Keeper, h *heapMeter) {
	if !p.close {
		return
	}
	room := h.near.rooms[h.near.nearest]
	values := [...]shard.Typed{shard.Type(counters.RoomNames[h.near.nearest]), shard.Type(uint64(max(0, room.Used))), shard.Type(uint64(room.Limit)),
		shard.Type(value(&h.samples[sampleHeap])), shard.Type(uint64(p.explained)), shard.Type(uint64(max(0, p.explained-p.published))), shard.Type(p.whole),
		shard.Type(uint64(h.known)), shard.Type(uint64(p.cost)), shard.Type(uint64(h.due() - h.begun))}
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
	}})}

// inUse is how many bytes the objects in use take that the samples stand for.
func inUse(records []runtime.MemProfileRecord) int64 {
	rate := float64(heapRate())
	sum := 0.
	for i := range records {
		r := &records[i]
		if n := r.InUseObjects(); n > 0 && r.AllocBytes > 0 {
			size := float64(r.AllocBytes / r.AllocObjects)
			each := size
			if rate > 1 {
				each = size / -math.Expm1(-size/rate)
			}
			sum += float64(n) * each
		}
	}
	return int64(min(sum, math.MaxInt64/2))
}
