package recorder

// Label is a frame that the program puts on its stack, such as the step of a
// query that is being executed: CPU samples show it between the function that
// begins it and what that calls.
//
//	var parse = recorder.NewLabel("parse")
//
//	defer parse.Begin().End()
//
// Beginning and ending a label allocates nothing and takes no lock. Labels are
// shown where samples are taken by signals, see [CPUSignal]; of more than 14 that
// a goroutine is in at once the outer ones are. When more than about 2,000
// goroutines are in labels, further ones have none, which is counted.
type Label struct{ id uint32 }

// maxLabelNames bounds the names of labels.
const maxLabelNames = 1 << 16

// labelName is what the registry keeps of a label.
type labelName struct {
	name     string
	category uint32
}

// NewLabel makes a label: a package-level value, as events are. Of the options
// only [Category] and [Subcategory] count. When there are too many names the label is never shown,
// which is counted.
func NewLabel(name string, opts ...EventOption) Label {
	e := eventSpec{name: name}
	for _, o := range opts {
		o(&e)
	}
	defined.mu.Lock()
	defer defined.mu.Unlock()
	return Label{defined.label(&e)}
}

// label is under the registry's lock.
func (g *registry) label(e *eventSpec) uint32 {
	if len(g.labels) >= maxLabelNames {
		g.lose()
		return 0
	}
	g.labels = append(g.labels, labelName{e.name, g.category(e.category)})
	labels := g.labels
	g.named.Store(&labels)
	g.publish()
	return uint32(len(g.labels))
}

// labelNamed is what a label's number stands for. It takes no lock: a dictionary
// asks, whose own lock is taken after the registry's.
func labelNamed(id uint32) (l labelName, ok bool) {
	labels := defined.named.Load()
	if labels == nil || id == 0 || int(id) > len(*labels) {
		return l, false
	}
	return (*labels)[id-1], true
}
