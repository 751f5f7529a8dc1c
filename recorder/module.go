package recorder

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"strings"
)

// module is an executable mapping of a file.
type module struct {
	path, build        string
	start, end, offset uint64
}

// contentPrefix marks a build id that is a hash of the code. Two builds must
// never be taken for one, whatever flags they were linked with.
const contentPrefix = "content-"

// buildID names the build of an ELF file: its GNU build id in hex, else its Go
// build id, else a hash of what its frames depend on. Go's linker makes the one
// id of the other: where somebody chose the Go id, neither tells builds apart.
func buildID(f *elf.File) (string, error) {
	gnu, golang := note(f, ".note.gnu.build-id", "GNU", 3), note(f, ".note.go.buildid", "Go", 4)
	switch {
	case len(golang) > 0 && !usual(string(golang)):
		return contentID(f)
	case len(gnu) > 0:
		return hex.EncodeToString(gnu), nil
	case len(golang) > 0:
		return string(golang), nil
	}
	return contentID(f)
}

// usual reports whether a Go build id is of the form that go build gives it:
// action/main/content/content, hashes all.
func usual(id string) bool {
	parts := strings.Split(id, "/")
	return len(parts) == 4 && !slices.Contains(parts, "")
}

// note returns the description of an ELF note, nil if the section does not
// begin with that note.
func note(f *elf.File, section, owner string, kind uint32) []byte {
	s := f.Section(section)
	if s == nil || s.Size < 12 || s.Size > 4<<10 {
		return nil
	}
	b, err := s.Data()
	if err != nil || len(b) < 12 {
		return nil
	}
	name, desc := uint64(f.ByteOrder.Uint32(b)), uint64(f.ByteOrder.Uint32(b[4:]))
	at := 12 + (name+3)&^3
	if f.ByteOrder.Uint32(b[8:]) != kind || at+desc > uint64(len(b)) || !bytes.HasPrefix(b[12:], []byte(owner)) {
		return nil
	}
	return b[at : at+desc]
}

// errNoCode means that a file has no section to tell its build by.
var errNoCode = errors.New("no code section")

// contentID is the hash of the code and, in a Go program, of the table of
// functions and lines, which differs where the code alone might not.
func contentID(f *elf.File) (string, error) {
	h := sha256.New()
	if f.Section(".text") == nil {
		return "", errNoCode
	}
	for _, name := range []string{".text", ".gopclntab", ".data.rel.ro.gopclntab"} {
		s := f.Section(name)
		if s == nil {
			continue
		}
		if _, err := io.Copy(h, s.Open()); err != nil {
			return "", err
		}
	}
	return contentPrefix + hex.EncodeToString(h.Sum(nil)[:16]), nil
}
