package pprof

import "unsafe"

// wholes finds stacks by all their sites at once: most samples of files of one program have a stack that
// an earlier file had. Looking up a hash and comparing some hundred bytes takes a quarter of the time
// of a walk through the tree of stacks. It is empty and ready to use, and gives up growing at a limit.
type wholes struct {
	table []whole // its length is a power of two; see [hints]
	n     int
	sites []siteID // of all stacks, one behind the other

	touched siteID // only to read what is behind it
}

const (
	// together is how many stacks are looked up at once.
	together = 32
	// siteLine is how many sites are in a cache line.
	siteLine = 16
)

// whole is a stack of the pool.
type whole struct {
	hash uint32
	at   uint32  // in sites
	n    uint32  // of them
	id   stackID // 0: free
}

// find is the stack of a path, 0 if it is not there.
func (w *wholes) find(hash uint32, path []siteID) stackID {
	for i := range w.probes() {
		switch e := w.slot(hash, i); {
		case e.id == 0:
			return 0
		case e.hash == hash && bytesOf(path) == bytesOf(w.sites[e.at:e.at+e.n]):
			return e.id
		}
	}
	return 0
}

// probes bounds the search, so that hostile files can't slow it down.
func (w *wholes) probes() uint32 { return min(maxProbes, uint32(len(w.table))) }

func (w *wholes) slot(hash, probe uint32) *whole {
	return &w.table[(hash+probe)&uint32(len(w.table)-1)]
}

// bytesOf is the memory of a path: comparing texts is one instruction for many sites.
func bytesOf(path []siteID) string {
	return unsafe.String((*byte)(unsafe.Pointer(unsafe.SliceData(path))), 4*len(path))
}

// approach touches what find will look at for some hashes, so that the cache misses overlap.
func (w *wholes) approach(hashes []uint32) {
	if len(w.table) == 0 {
		return
	}
	var at, n [together]uint32
	mask := uint32(len(w.table) - 1)
	for i, hash := range hashes {
		e := &w.table[hash&mask]
		at[i], n[i] = e.at, e.n
	}
	for i := range hashes {
		for k := at[i]; k < at[i]+n[i]; k += siteLine {
			w.touched += w.sites[k]
		}
	}
}

// add adds the stack of a path that was not found, if there is room within a limit.
func (w *wholes) add(hash uint32, path []siteID, id stackID, limit int64) {
	if w.bytes()+int64(4*len(path)) > limit {
		return
	}
	if 2*w.n >= len(w.table) {
		w.grow()
	}
	if w.put(whole{hash, uint32(len(w.sites)), uint32(len(path)), id}) {
		w.sites = append(w.sites, path...)
		w.n++
	}
}

func (w *wholes) put(e whole) (ok bool) {
	for i := range w.probes() {
		if to := w.slot(e.hash, i); to.id == 0 {
			*to = e
			return true
		}
	}
	return false
}

func (w *wholes) grow() {
	old := w.table
	w.table = make([]whole, max(64, 2*len(old)))
	for _, e := range old {
		if e.id != 0 && !w.put(e) {
			w.n--
		}
	}
}

// bytes is the memory of w.
func (w *wholes) bytes() int64 { return 16*int64(len(w.table)) + 4*int64(cap(w.sites)) }
