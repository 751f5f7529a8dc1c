package archive

import (
	"path"
	"slices"
	"strings"
)

// cleanName turns a member's name into a path of an [FS]. Names that would lead
// elsewhere if anybody unpacked them are refused, not mended: who made them
// wanted that.
func cleanName(name string) (string, error) {
	switch {
	case len(name) > MaxName:
		return "", ErrName
	case strings.HasPrefix(name, "/"), strings.Contains(name, "\x00"), hasVolume(name):
		return "", ErrEscape
	case slices.Contains(strings.Split(name, "/"), ".."):
		return "", ErrEscape
	}
	name = path.Clean(strings.ToValidUTF8(name, "\uFFFD"))
	if strings.Count(name, "/") >= MaxDepth {
		return "", ErrName
	}
	return name, nil
}

// hasVolume reports whether Windows takes the name for one on a drive.
func hasVolume(name string) bool {
	return len(name) > 1 && name[1] == ':' && (name[0]|0x20) >= 'a' && (name[0]|0x20) <= 'z'
}
