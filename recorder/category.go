package recorder

import "gprof/recorder/internal/registry"

// MarkerCategory is a category for single markers, whatever category their event has. It is
// meant to be a package-level value.
type MarkerCategory struct{ registered *registry.Category }

// NewCategory returns a category, or the part of one that has that name; see [Category] and
// [Subcategory]. An event may have markers of some thousand categories; if there are more,
// which is counted, markers have the category of their event.
func NewCategory(name, color, part string) MarkerCategory {
	return MarkerCategory{registry.NewCategory(name, color, part)}
}

// In returns the event with markers of that category. The first use of a category defines
// another event of the same name and type.
func (e Event) In(c MarkerCategory) Event { e.h.Event = e.h.Event.In(c.registered); return e }

// In: see [Event.In].
func (e Event1[A]) In(c MarkerCategory) Event1[A] { e.h.Event = e.h.Event.In(c.registered); return e }

// In: see [Event.In].
func (e Event2[A, B]) In(c MarkerCategory) Event2[A, B] {
	e.h.Event = e.h.Event.In(c.registered)
	return e
}

// In: see [Event.In].
func (e Event3[A, B, C]) In(c MarkerCategory) Event3[A, B, C] {
	e.h.Event = e.h.Event.In(c.registered)
	return e
}

// In: see [Event.In].
func (e Event4[A, B, C, D]) In(c MarkerCategory) Event4[A, B, C, D] {
	e.h.Event = e.h.Event.In(c.registered)
	return e
}

// In: see [Event.In].
func (e EventN) In(c MarkerCategory) EventN { e.h.Event = e.h.Event.In(c.registered); return e }
