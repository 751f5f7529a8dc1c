package stream

import (
	"cmp"
	"slices"
)

// Mapping is what is known of where a module lay in the memory of a process. Nothing
// refers to it: a frame has the offset in the file.
type Mapping struct {
	Module               ModuleID
	Start, Limit, Offset uint64 // from one address up to but not another, and where in the file that begins; Limit 0: only Path is known
	Path                 string // of the file; modules that have build ids have none
	Names                MappingNames
}

// MappingNames is what a profile says that code in a mapping has, by bit.
type MappingNames uint8

// The names that code of a mapping may have.
const (
	NamesFunctions MappingNames = 1 << iota
	NamesFiles
	NamesLines
	NamesInlined
)

// mappingKey is what mappings have in common that are of one part of a file: tools
// that merge profiles take them for one, wherever it lay.
type mappingKey struct {
	module       ModuleID
	size, offset uint64
}

// maxMappings is how many different ones tables keep: more are no program's.
const maxMappings = 1 << 12

// AddMapping adds what is known of a module. Of those that are of one part of a file
// the lowest stays, whatever comes first.
func (t *Tables) AddMapping(m Mapping) {
	key := mappingKey{m.Module, m.Limit - m.Start, m.Offset}
	old, known := t.mappings[key]
	switch {
	case !known && len(t.mappings) >= maxMappings:
		return
	case known:
		names := m.Names | old.Names
		if compareMappings(old, m) < 0 {
			m = old
		}
		m.Names = names
	case t.mappings == nil:
		t.mappings = make(map[mappingKey]Mapping)
	}
	t.mappings[key] = m
}

// Mappings are all that are known, by module, offset, size and start.
func (t *Tables) Mappings() []Mapping {
	all := make([]Mapping, 0, len(t.mappings))
	for _, m := range t.mappings {
		all = append(all, m)
	}
	slices.SortFunc(all, compareMappings)
	return all
}

func compareMappings(a, b Mapping) int {
	return cmp.Or(cmp.Compare(a.Module, b.Module), cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Limit-a.Start, b.Limit-b.Start),
		cmp.Compare(a.Start, b.Start), cmp.Compare(a.Path, b.Path))
}

// MapMappings replaces all of them by what f makes of them; those whose module is 0
// then are dropped.
func (t *Tables) MapMappings(f func(Mapping) Mapping) {
	all := t.Mappings()
	t.mappings = nil
	for _, m := range all {
		if m = f(m); m.Module != 0 {
			t.AddMapping(m)
		}
	}
}
