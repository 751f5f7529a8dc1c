package stream

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
)

// Module is a mapped file. Two files with one build id are the same module.
type Module struct {
	Build string // build id, or what stands in for it; hex
	Path  string // of the file; "" in the key when Build is known: see Name
	Name  string // base name

	// What only profiles tell: "" is what follows from the rest.
	DebugPath string // of the file with the symbols, if it is another one
	DebugName string // its base name
	Breakpad  string // id by which symbol servers know it: see BreakpadID
	Arch      string // if it is not what the process says: see Process.Machine
}

// An id of a symbol server is a GUID in digits, and an age.
const (
	guidSize = 16
	noAge    = "0"
)

// breakpadID matches what is such an id already.
var breakpadID = regexp.MustCompile(`^[0-9A-F]{33,40}$`)

// CodeID is the build id, "" where only what symbol servers know it by was told.
func (m Module) CodeID() string {
	if breakpadID.MatchString(m.Build) {
		return ""
	}
	return m.Build
}

// BreakpadID is what symbol servers know m by: what was told, or else what the build
// id makes.
func (m Module) BreakpadID() string {
	if m.Breakpad != "" {
		return m.Breakpad
	}
	return breakpadOf(m.Build)
}

// breakpadOf makes a build id as symbol servers want it: 32 digits and an age. The
// beginning of an ELF file's id counts, read as the GUID that it is on a
// little-endian machine: the bytes of its first three numbers are turned round. An id
// that is no digits, as Go's own, is known to no server; it becomes a hash, which
// tells modules apart.
func breakpadOf(build string) string {
	if breakpadID.MatchString(build) {
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
