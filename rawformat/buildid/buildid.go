// Package buildid identifies the build of an ELF file. Two builds must never share an id, whatever
// flags they were linked with.
package buildid

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
)

// ContentPrefix marks a build id that is a hash of the code.
const ContentPrefix = "content-"

// ErrNoCode says that a file has no section to identify its build by.
var ErrNoCode = errors.New("no code section")

// Of is the build id: the one in its notes, or else a hash of its contents.
func Of(f *elf.File) (string, error) {
	if id := Noted(f); id != "" {
		return id, nil
	}
	return Content(f)
}

// Noted is the GNU build id in hex, else the Go build id; "" if there is none, or it would not
// distinguish builds: Go's linker derives one from the other, and neither does if the Go id was
// chosen by hand.
func Noted(f *elf.File) string {
	golang := note(f, ".note.go.buildid", "Go", 4)
	switch gnu := GNU(f); {
	case len(golang) > 0 && !usual(string(golang)):
		return ""
	case gnu != "":
		return gnu
	}
	return string(golang)
}

// GNU is the GNU build id in hex, "" if there is none.
func GNU(f *elf.File) string {
	if id := note(f, ".note.gnu.build-id", "GNU", 3); id != nil {
		return hex.EncodeToString(id)
	}
	for _, s := range f.Sections { // it may stand between other notes, as that of the vDSO
		if s.Type != elf.SHT_NOTE || s.Size > maxNotes {
			continue
		}
		if b, err := s.Data(); err == nil {
			if id := InNotes(f.ByteOrder, b); id != "" {
				return id
			}
		}
	}
	return ""
}

// kernelNotes are the notes of the running kernel.
const kernelNotes = "/sys/kernel/notes"

// OfKernel is the GNU build id of the running kernel in hex, "" if unknown.
func OfKernel() string {
	notes, err := os.ReadFile(kernelNotes)
	if err != nil {
		return ""
	}
	return InNotes(binary.NativeEndian, notes)
}

// maxNotes bounds a section of notes: they are some dozens of bytes each.
const maxNotes = 4 << 10

// InNotes is the GNU build id among ELF notes in hex, "" for none.
func InNotes(order binary.ByteOrder, b []byte) string {
	for len(b) >= 12 {
		name, desc, kind := order.Uint32(b), order.Uint32(b[4:]), order.Uint32(b[8:])
		at := 12 + (uint64(name)+3)&^3
		end := at + (uint64(desc)+3)&^3
		if end > uint64(len(b)) {
			return ""
		}
		if kind == 3 && bytes.HasPrefix(b[12:], []byte("GNU\x00")) {
			return hex.EncodeToString(b[at:][:desc])
		}
		b = b[end:]
	}
	return ""
}

// usual reports whether a Go build id has go build's form: action/main/content/content, all hashes.
func usual(id string) bool {
	parts := strings.Split(id, "/")
	return len(parts) == 4 && !slices.Contains(parts, "")
}

// note returns the description of an ELF note, nil if the section does not begin with that note.
func note(f *elf.File, section, owner string, kind uint32) []byte {
	s := f.Section(section)
	if s == nil || s.Size < 12 || s.Size > maxNotes {
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

// Content is the hash of the code and, in a Go program, of the table of functions and lines, which
// differs where the code alone might not.
func Content(f *elf.File) (string, error) {
	if f.Section(".text") == nil {
		return "", ErrNoCode
	}
	h := sha256.New()
	for _, name := range []string{".text", ".gopclntab", ".data.rel.ro.gopclntab"} {
		s := f.Section(name)
		if s == nil {
			continue
		}
		if _, err := io.Copy(h, s.Open()); err != nil {
			return "", err
		}
	}
	return ContentPrefix + hex.EncodeToString(h.Sum(nil)[:16]), nil
}
