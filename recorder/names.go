package recorder

import (
	"maps"
	"unsafe"

	"gprof/rawformat"
)

// maxLabelNames bounds the names of labels.
const maxLabelNames = 1 << 16

// labelName is what the registry keeps of a label.
type labelName struct {
	name     string
	category uint32
}

// label defines a label and returns its number, 0 if there are too many.
func (g *registry) label(e *eventSpec) uint32 {
	g.mu.Lock()
	defer g.mu.Unlock()
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

// maxNames bounds the names of untyped markers: each is a definition that is
// never given up.
const maxNames = 1024

// dynamicName is that of an untyped marker.
type dynamicName struct {
	name string
	text bool
}

// textLabel shows the text of a marker without having to point at it.
const textLabel = "{marker.data.text}"

// dynamicEvent is the event of an untyped marker, with a text or without; nil if there
// are too many names. It takes no lock for a name that is known.
func dynamicEvent(name string, text bool) *definition {
	n := dynamicName{name, text}
	if known := defined.names.Load(); known != nil {
		if d := (*known)[n]; d != nil {
			return d
		}
	}
	return defined.addDynamic(n)
}

func (g *registry) addDynamic(n dynamicName) *definition {
	g.mu.Lock()
	defer g.mu.Unlock()
	known := map[dynamicName]*definition{}
	if p := g.names.Load(); p != nil {
		known = *p
	}
	if d := known[n]; d != nil {
		return d
	}
	if len(known) >= maxNames {
		return nil
	}
	e := eventSpec{name: n.name, display: rawformat.ShowChart | rawformat.ShowTable}
	if n.text {
		e.fields = []fieldSpec{{name: "text", wire: rawformat.WireText, size: unsafe.Sizeof(""), unit: rawformat.FormatText, flags: rawformat.FieldSearchable}}
		e.chart, e.table = textLabel, textLabel
	}
	known = maps.Clone(known)
	// The key outlives the caller's string, which may lie in a large buffer.
	n.name = string([]byte(n.name))
	known[n] = g.addEvent(&e)
	g.names.Store(&known)
	return known[n]
}
