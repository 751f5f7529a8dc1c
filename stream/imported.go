package stream

import "gprof/dedupe"

// pprofExtras are what only profiles in pprof's format say, and only their outputs have a place for.
// They change nothing of what other outputs are given.
type pprofExtras struct {
	linked  map[FrameID]StringID // names in linkedTexts: see SetLinkName
	names   dedupe.Texts[StringID]
	numeric map[string]bool // see NoteLabel
	zeros   bool            // see KeepZeros
}

// KeepZeros asks a Source for samples all of whose values are 0, which most outputs have no use for.
func (t *Tables) KeepZeros() { t.imported.zeros = true }

// WantsZeros reports whether KeepZeros was called, and there is one process of one file: sums of several have
// no zeros.
func (t *Tables) WantsZeros() bool {
	return t.imported.zeros && len(t.Processes) == 1 && t.Processes[0].Profile.Files == 0
}

// SetLinkName says by what name a linker knows the function of a frame, where that is not
// Function; "" is none. Of several names of a frame the lowest stays, whatever comes first.
func (t *Tables) SetLinkName(id FrameID, name string) {
	if old, ok := t.LinkName(id); ok && old <= name {
		return
	}
	if t.imported.linked == nil {
		t.imported.linked = make(map[FrameID]StringID)
	}
	t.imported.linked[id] = t.imported.names.Intern(name)
}

// LinkName is the name that SetLinkName set, if any.
func (t *Tables) LinkName(id FrameID) (name string, ok bool) {
	text, ok := t.imported.linked[id]
	if !ok || text == 0 {
		return "", ok
	}
	return t.imported.names.At(text), true
}

// DropLinkNames forgets all names that SetLinkName set.
func (t *Tables) DropLinkNames() { t.imported.linked, t.imported.names = nil, dedupe.Texts[StringID]{} }

// maxNoted bounds the keys of NoteLabel: more are no program's.
const maxNoted = 1 << 12

// NoteLabel says that a label came as a number, perhaps with a unit, or as a text.
func (t *Tables) NoteLabel(key string, number bool) {
	m := &t.imported
	if was, ok := m.numeric[key]; ok {
		m.numeric[key] = was && number
	} else if len(m.numeric) < maxNoted {
		if m.numeric == nil {
			m.numeric = make(map[string]bool)
		}
		m.numeric[key] = number
	}
}

// NumericLabel reports whether all labels of a key came as numbers.
func (t *Tables) NumericLabel(key string) bool { return t.imported.numeric[key] }

// ImportLabels notes the labels that another Tables has notes of.
func (t *Tables) ImportLabels(from *Tables) {
	for key, number := range from.imported.numeric {
		t.NoteLabel(key, number)
	}
}

// bytes is about how much memory m takes.
func (m *pprofExtras) bytes() int64 {
	const entry = 24 // of a map, with its free room
	return m.names.Bytes() + entry*int64(len(m.linked))
}
