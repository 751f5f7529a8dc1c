package registry

import (
	"maps"
	"unsafe"

	"gprof/rawformat"
)

// maxLabelNames bounds the names of labels.
const maxLabelNames = 1 << 16

// labelName is what the registry keeps of a label.
type labelName struct {
	Name     string
	Category uint32
}

// Label defines a label and returns its number, 0 if there are too many.
func (g *registry) Label(e *EventSpec) uint32 {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.labels) >= maxLabelNames {
		g.lose()
		return 0
	}
	g.labels = append(g.labels, labelName{e.Name, g.category(e.Category)})
	labels := g.labels
	g.named.Store(&labels)
	g.publish()
	return uint32(len(g.labels))
}

// LabelNamed returns the label with that number. It takes no lock, because a dictionary calls it with its own lock held, which is
// taken after the registry's.
func LabelNamed(id uint32) (l labelName, ok bool) {
	labels := Defined.named.Load()
	if labels == nil || id == 0 || int(id) > len(*labels) {
		return l, false
	}
	return (*labels)[id-1], true
}

// MaxNames bounds the names of untyped markers: each is a definition that is never freed.
const MaxNames = 1024

// dynamicName is the name of an untyped marker.
type dynamicName struct {
	name string
	text bool
}

// TextLabel shows the text of a marker without having to point at it.
const TextLabel = "{marker.data.text}"

// Untyped is the event of an untyped marker, with a text or without; nil if there
// are too many names. It takes no lock for a name that is known.
func Untyped(name string, text bool) *Definition {
	n := dynamicName{name, text}
	if known := Defined.names.Load(); known != nil {
		if d := (*known)[n]; d != nil {
			return d
		}
	}
	return Defined.addDynamic(n)
}

func (g *registry) addDynamic(n dynamicName) *Definition {
	g.mu.Lock()
	defer g.mu.Unlock()
	known := map[dynamicName]*Definition{}
	if p := g.names.Load(); p != nil {
		known = *p
	}
	if d := known[n]; d != nil {
		return d
	}
	if len(known) >= MaxNames {
		return nil
	}
	e := EventSpec{Name: n.name, Display: rawformat.ShowChart | rawformat.ShowTable}
	if n.text {
		e.Fields = []FieldSpec{{Name: "text", Wire: rawformat.WireText, Size: unsafe.Sizeof(""), Unit: rawformat.FormatText, Flags: rawformat.FieldSearchable}}
		e.Chart, e.Table = TextLabel, TextLabel
	}
	known = maps.Clone(known)
	// The key outlives the caller's string, which may lie in a large buffer.
	n.name = string([]byte(n.name))
	known[n] = g.addEvent(&e)
	g.names.Store(&known)
	return known[n]
}
