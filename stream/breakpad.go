package stream

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"regexp"
	"strings"
)

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
