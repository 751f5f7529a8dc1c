package stream

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Module is a mapped file. Two files with one build id are the same module.
type Module struct {
	Build string // build id, or what stands in for it; hex
	Path  string // of the file; "" if Build is known
	Name  string // base name

	// Only profiles tell these. Each is "" if it follows from the rest.
	DebugPath string // of the file with the symbols, if it is another one
	DebugName string // its base name
	Breakpad  string // id by which symbol servers know it: see BreakpadID
	Arch      string // if it is not what the process says: see Process.Machine
}

// CodeID is the build id, "" if only the id of symbol servers is known.
func (m Module) CodeID() string {
	if breakpadID().MatchString(m.Build) {
		return ""
	}
	return m.Build
}

// BreakpadID is the id by which symbol servers know m: as it was told, or made of the
// build id.
func (m Module) BreakpadID() string {
	if m.Breakpad != "" {
		return m.Breakpad
	}
	return breakpadOf(m.Build)
}

// BreakpadName is the name by which symbol servers know m.
func (m Module) BreakpadName() string { return cmp.Or(m.DebugName, m.Name) }

// breakpadOf makes the id for symbol servers from a build id: 32 digits and an age. An
// ELF file's id is cut to the size of a GUID, and the bytes of its first three numbers
// are reversed, as they are little-endian. An id that is not hexadecimal, as Go's, is
// unknown to all servers; it becomes a hash, so that modules can be told apart.
func breakpadOf(build string) string {
	if breakpadID().MatchString(build) {
		return build
	}
	guid, err := hex.DecodeString(build)
	if err != nil {
		sum := sha256.Sum256([]byte(build))
		guid = sum[:]
	}
	guid = append(guid, make([]byte, guidSize)...)[:guidSize]
	le := binary.LittleEndian
	turned := binary.BigEndian.AppendUint32(nil, le.Uint32(guid))
	turned = binary.BigEndian.AppendUint16(turned, le.Uint16(guid[4:]))
	turned = binary.BigEndian.AppendUint16(turned, le.Uint16(guid[6:]))
	return strings.ToUpper(hex.EncodeToString(append(turned, guid[8:]...))) + noAge
}

// An id of a symbol server is a GUID in digits, and an age.
const (
	guidSize = 16
	noAge    = "0"
)

// breakpadID matches a build id that is such an id already.
var breakpadID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9A-F]{33,40}$`) })

// Mapping is where a module was in the memory of a process. No row refers to it: frames
// have offsets in the file.
type Mapping struct {
	Module               ModuleID
	Start, Limit, Offset uint64 // addresses from Start up to but not including Limit, and the offset of Start in the file; Limit 0: only Path is known
	Path                 string // of the file, which is not in modules that have build ids
	Names                MappingNames
}

// MappingNames says which names a profile has for the code of a mapping, by bit.
type MappingNames uint8

// The names that code of a mapping may have.
const (
	NamesFunctions MappingNames = 1 << iota
	NamesFiles
	NamesLines
	NamesInlined
)

// mappingKey is the same for all mappings of one part of a file, at whatever address:
// tools that merge profiles take them for one.
type mappingKey struct {
	module       ModuleID
	size, offset uint64
}

// maxMappings is the most mappings that tables keep: no program has more.
const maxMappings = 1 << 12

// AddMapping adds a mapping. Of several mappings of one part of a file the one at the
// lowest address is kept, in whatever order they come.
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

// Mappings returns all mappings by module, offset, size and start.
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

// MapMappings replaces each mapping by the result of f; those whose module becomes 0 are
// dropped.
func (t *Tables) MapMappings(f func(Mapping) Mapping) {
	all := t.Mappings()
	t.mappings = nil
	for _, m := range all {
		if m = f(m); m.Module != 0 {
			t.AddMapping(m)
		}
	}
}
