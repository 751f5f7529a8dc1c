package registry

import (
	"math"
	"sync/atomic"
	"time"

	"gprof/rawformat"
)

// Watch is how intervals of the events of one name are watched for those that take long. Most
// events are not watched: then a comparison with Limit is all that it costs.
type Watch struct {
	Limit  atomic.Int64 // intervals of more ticks are passed to Note; math.MaxInt64: none
	levels atomic.Pointer[[]*Level]
}

// Level counts the intervals that took longer than Above.
type Level struct {
	Above time.Duration
	Each  bool // count those that did not, too

	All, Over atomic.Uint64
	longest   atomic.Int64 // ns
	flow      atomic.Uint64
}

// Watched returns what watches the events of that name, also of those that are defined later.
func (g *registry) Watched(name string) *Watch {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.watch(name)
}

func (g *registry) watch(name string) *Watch {
	w := g.watches[name]
	if w == nil {
		w = new(Watch)
		w.Set(nil, math.MaxInt64)
		g.watches[name] = w
	}
	return w
}

// Set has intervals counted that take more than limit ticks; of no levels none are.
func (w *Watch) Set(levels []*Level, limit int64) {
	w.levels.Store(&levels)
	w.Limit.Store(limit)
}

// Note counts an interval that took so long; flow is the flow that it belongs to, 0 none.
func (w *Watch) Note(took time.Duration, flow uint64) {
	for _, l := range *w.levels.Load() {
		if l.Each {
			l.All.Add(1)
		}
		if took <= l.Above {
			continue
		}
		if flow != 0 {
			l.flow.Store(flow)
		}
		for longest := l.longest.Load(); int64(took) > longest && !l.longest.CompareAndSwap(longest, int64(took)); {
			longest = l.longest.Load()
		}
		l.Over.Add(1)
	}
}

// Take returns the longest interval since the last call, and the flow of one, 0 if there is none.
func (l *Level) Take() (longest time.Duration, flow uint64) {
	return time.Duration(l.longest.Swap(0)), l.flow.Swap(0)
}

// FlowField is the index of the first field that has the id of a flow between processes, -1 if
// there is none.
func (d *Definition) FlowField() int {
	for i, f := range d.spec.Fields {
		if (f.Unit == rawformat.FormatFlow || f.Unit == rawformat.FormatFlowEnd) && f.Flags&rawformat.FieldLocal == 0 {
			return i
		}
	}
	return -1
}
