package recorder

import (
	"gprof/recorder/internal/registry"
	"gprof/recorder/internal/sampler"
	"gprof/recorder/internal/shard"
)

// Label is a frame that the program puts on its stack, such as the step of a query that is
// being executed. CPU samples show it between the function that begins it and the functions
// which that calls.
//
//	var parse = recorder.NewLabel("parse")
//
//	defer parse.Begin().End()
//
// Beginning and ending a label allocates nothing and takes no lock. Labels are shown where
// samples are taken by signals, see [CPUSignal]. If a goroutine is in more than 14 labels
// at once, the outermost 14 are shown. If about 2,000 goroutines are in labels, labels of
// further goroutines are not shown, which is counted.
type Label struct{ id uint32 }

// NewLabel makes a label, which like events is meant to be a package-level variable. Of the
// options only [Category] and [Subcategory] count. If there are too many names the label is
// never shown, which is counted.
func NewLabel(name string, opts ...EventOption) Label {
	e := registry.EventSpec{Name: name}
	for _, o := range opts {
		o(&e)
	}
	return Label{registry.Defined.Label(&e)}
}

// LabelScope is a label that has begun.
type LabelScope struct{ begun sampler.Scope }

// Begin begins the label on the calling goroutine, in the calling function. End must be
// called before that function returns, as a rule by defer.
//
//go:noinline
func (l Label) Begin() LabelScope {
	r := shard.Current.Load()
	if r == nil || l.id == 0 {
		return LabelScope{}
	}
	return LabelScope{sampler.Begin(r, l.id)}
}

// End ends the label, and those begun inside it that have not ended. It must be called by
// the goroutine that began the label. A second call does nothing.
func (s LabelScope) End() { s.begun.End() }
