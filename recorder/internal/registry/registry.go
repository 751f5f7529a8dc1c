// Package registry holds what the program has defined: events, tracks, labels and
// counters. Definitions are package-level values of the program, so they exist before any
// recording does and outlive each.
package registry

import (
	"sync"
	"sync/atomic"

	"gprof/recorder/internal/counters"
)

// listener is the running recording. It is called with the registry locked.
type listener interface {
	Define(records [][]byte) // all records of the registry, the first of which it has already
	LoseDefinition()         // counts a definition for which there is no room
	Wants(track string) bool // reports whether the track is recorded
}

// Attach calls begin with all records so far, and l with those defined from then on. Tracks that l does not want are marked.
func (g *registry) Attach(l listener, begin func(records [][]byte) error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := begin(g.records); err != nil {
		return err
	}
	g.listener = l
	for _, t := range g.tracks {
		t.Unwanted.Store(!l.Wants(t.Name))
	}
	return nil
}

// Detach undoes Attach.
func (g *registry) Detach() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.listener = nil
}

// Sandbox is for tests: until restore is called the registry has those records; nil: the ones it has now. Records defined
// meanwhile are then forgotten.
func (g *registry) Sandbox(records [][]byte) (restore func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	was, events, names, variants := g.records, g.events, g.names.Load(), g.variants.Load()
	if records != nil {
		g.records = records
	}
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.records, g.events = was[:len(was):len(was)], events
		g.names.Store(names)
		g.variants.Store(variants)
	}
}

// Count is how many records there are.
func (g *registry) Count() (n int) {
	g.All(func(records [][]byte) { n = len(records) })
	return n
}

// All calls f with all records so far, while nothing can be defined.
func (g *registry) All(f func(records [][]byte)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f(g.records)
}

// publish writes the records that the recording does not have yet.
func (g *registry) publish() {
	if g.listener != nil {
		g.listener.Define(g.records)
	}
}

// lose counts a definition for which there is no room.
func (g *registry) lose() {
	if g.listener != nil {
		g.listener.LoseDefinition()
	}
}

// Counter is a counter of the program.
type Counter struct {
	Spec  counters.Spec
	Value func() int64
}

func (g *registry) AddCounter(c Counter) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.counters = append(g.counters, c)
}

// CountersFrom returns the program's counters after the first n.
func (g *registry) CountersFrom(n int) []Counter {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.counters[n:]
}

// registry holds what was defined in this process. There is only one, because events are package-level values, which exist before
// any recorder and outlive each. Its records are written into every dictionary in this order, so ids are the same in all of them.
type registry struct {
	mu         sync.Mutex
	records    [][]byte
	categories map[[3]string]uint32
	events     uint32
	tracks     map[string]*Track
	counters   []Counter
	labels     []labelName
	watches    map[string]*Watch           // by the name of events
	named      atomic.Pointer[[]labelName] // labels, for readers
	names      atomic.Pointer[map[Untyped]*Definition]
	variants   atomic.Pointer[map[variant]*Definition]
	listener   listener // nil: nothing records
}

var Defined = registry{categories: map[[3]string]uint32{}, tracks: map[string]*Track{}, watches: map[string]*Watch{}}
