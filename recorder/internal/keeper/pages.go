package keeper

import (
	"fmt"

	"gprof/rawformat"
	"gprof/recorder/internal/page"
)

// pageShare is the part of the limit for which there may be a page: it takes up to
// 1 KiB in each half of the ring.
const pageShare = 16 << 10

// pageKeeper states open pages again before they are discarded. It belongs to the
// keeper.
type pageKeeper struct {
	fresh  int    // of the list, when it was looked through
	floor  uint64 // no page was stated below this index then
	warned bool   // that there are too many
}

// round states the pages that this recording does not have yet, or not for long.
func (p *pageKeeper) round(k *Keeper) {
	if !k.config.Markers {
		return
	}
	fresh, turned := page.Opened(), p.turned(k)
	if fresh == 0 || fresh == p.fresh && !turned {
		return
	}
	p.fresh = fresh
	if turned {
		p.floor = k.middle()
	}
	for _, open := range p.list(k) {
		open.Keep(k.rec, p.floor)
		if k.ring.Low() {
			k.maintainRing()
		}
	}
}

// turned reports whether some pages may be discarded soon: not before the ring has
// grown.
func (p *pageKeeper) turned(k *Keeper) bool {
	start, end := k.ring.RangeStart(), k.ring.RangeEnd()
	return p.floor < start+(end-start)/4 && (start > 1 || end > uint64(k.limit)/4)
}

// list are the open pages that are stated again.
func (p *pageKeeper) list(k *Keeper) []*page.Page {
	most := int(k.limit / pageShare)
	list, all := page.List(most)
	if !all && !p.warned {
		p.warned = true
		k.rec.Log(rawformat.LogWarn, fmt.Sprintf("pages: more than %d are open; those opened last are forgotten when the ring has turned", len(list)))
	}
	return list
}
