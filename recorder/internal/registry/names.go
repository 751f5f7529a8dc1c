package registry

import (
	"maps"
	"strings"
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

// MaxNames bounds the names of untyped markers, by category: each is a definition that is
// never freed.
const MaxNames = 1024

// Untyped says what an untyped marker is.
type Untyped struct {
	Name     string
	Category *Category // nil: none
	Text     bool      // it has a text
	Stack    bool      // it has the stack where it is made
}

// TextLabel shows the text of a marker without having to point at it.
const TextLabel = "{marker.data.text}"

// Types of untyped markers.
const (
	MarkType = "Mark"
	TextType = "Text"
)

// Definition is the event of an untyped marker; nil if there are too many names. It takes a
// lock only to define one.
func (u Untyped) Definition() *Definition {
	if known := Defined.names.Load(); known != nil {
		if d := (*known)[u]; d != nil || len(*known) >= MaxNames {
			return d
		}
	}
	return Defined.addUntyped(u)
}

func (g *registry) addUntyped(u Untyped) *Definition {
	g.mu.Lock()
	defer g.mu.Unlock()
	known := map[Untyped]*Definition{}
	if p := g.names.Load(); p != nil {
		known = *p
	}
	if d := known[u]; d != nil {
		return d
	}
	if len(known) >= MaxNames {
		return nil
	}
	// The key outlives the caller's string, which may lie in a large buffer.
	u.Name = strings.Clone(u.Name)
	e := EventSpec{Name: u.Name, Type: MarkType, Display: rawformat.ShowChart | rawformat.ShowTable, Stack: u.Stack}
	if u.Category != nil {
		e.Category = u.Category.key
	}
	if u.Text {
		e.Type = TextType
		e.Fields = []FieldSpec{{Name: "text", Wire: rawformat.WireText, Size: unsafe.Sizeof(""), Unit: rawformat.FormatText, Privacy: rawformat.PrivacySecret, Flags: rawformat.FieldSearchable}}
		e.Chart, e.Table = TextLabel, TextLabel
	}
	known = maps.Clone(known)
	known[u] = g.addEvent(&e)
	g.names.Store(&known)
	return known[u]
}

// Category is a category that the program gives to single markers.
type Category struct{ key [3]string } // name, color, part

// NewCategory returns a category.
func NewCategory(name, color, part string) *Category {
	return &Category{[3]string{name, color, part}}
}

// maxVariants bounds the definitions of events in other categories than their own.
const maxVariants = 4096

// variant is an event in another category.
type variant struct {
	event uint32 // its id
	in    *Category
}

// In is the event in another category; the event itself if there are too many of them. It
// takes no lock for one that is known.
func (d *Definition) In(c *Category) *Definition {
	if d == nil || c == nil {
		return d
	}
	if known := Defined.variants.Load(); known != nil {
		if v := (*known)[variant{d.ID, c}]; v != nil {
			return v.From(d.Given)
		}
	}
	return Defined.addVariant(d, c).From(d.Given)
}

func (g *registry) addVariant(d *Definition, c *Category) *Definition {
	g.mu.Lock()
	defer g.mu.Unlock()
	known := map[variant]*Definition{}
	if p := g.variants.Load(); p != nil {
		known = *p
	}
	key := variant{d.ID, c}
	if v := known[key]; v != nil {
		return v
	}
	if len(known) >= maxVariants {
		g.lose()
		return d
	}
	if d.spec.Type == "" { // the two have the same type from now on
		d.spec.Type = d.spec.Name
		g.defineShow(uint64(d.ID), d.spec)
	}
	e := *d.spec
	e.Category = c.key
	known = maps.Clone(known)
	known[key] = g.addEvent(&e)
	g.variants.Store(&known)
	return known[key]
}
