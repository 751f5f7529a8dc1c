package symbols

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

// contentPrefix marks a build id that is a hash of the code.
const contentPrefix = "content-"

var errNoCode = errors.New("no code section")

// buildID names the build of a program as the recorder names it: by its GNU
// build id in hex, else by its Go build id. It is "" where that would not tell
// builds apart: then the recorder takes [contentID].
func buildID(name string) (string, error) {
	f, err := elf.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	gnu, golang := note(f, ".note.gnu.build-id", "GNU", 3), note(f, ".note.go.buildid", "Go", 4)
	switch {
	case len(golang) > 0 && !usual(string(golang)):
		return "", nil
	case len(gnu) > 0:
		return hex.EncodeToString(gnu), nil
	}
	return string(golang), nil
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

// contentID is the hash of the code and, in a Go program, of the table of
// functions and lines.
func contentID(name string) (string, error) {
	f, err := elf.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if f.Section(".text") == nil {
		return "", errNoCode
	}
	h := sha256.New()
	for _, name := range []string{".text", ".gopclntab", ".data.rel.ro.gopclntab"} {
		if s := f.Section(name); s != nil {
			if _, err := io.Copy(h, s.Open()); err != nil {
				return "", err
			}
		}
	}
	return contentPrefix + hex.EncodeToString(h.Sum(nil)[:16]), nil
}
