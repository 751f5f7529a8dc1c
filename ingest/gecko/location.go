package gecko

import (
	"bytes"
	"strconv"

	"gprof/ingest/internal/jsonfile"
)

// location is what the text of a frame says, in a Gecko profile. The viewer
// reads it with patterns:
//
//	0x…                       an address
//	name (in module)          a native function; behind it may stand + bytes or (file:line)
//	name (place:line:column)  a function of a script, which begins there; behind it may stand [source]
//	place:line:column         what is in no function of a script
//	anything else             a label
//
// A place may be a chain of those that loaded each other, with " -> " between
// them: the last is that of the script.
type location struct {
	kind         locationKind
	name         []byte
	place        []byte // module or file
	address      uint64
	line, column int32  // where a script's function begins
	file         []byte // of a native function, if it says so
	fileLine     int32
}

type locationKind uint8

const (
	isLabel locationKind = iota
	isAddress
	isNative
	isScript
)

// rootScope is what the viewer calls what is in no function of a script.
const rootScope = "(root scope) "

// arrow stands between the places of a chain.
var arrow = []byte(" -> ")

func parseLocation(text []byte) location {
	if bytes.HasPrefix(text, []byte("0x")) {
		if address, err := strconv.ParseUint(string(text[2:]), 16, 64); err == nil {
			return location{kind: isAddress, address: address}
		}
	}
	if l, ok := parseNative(text); ok {
		return l
	}
	l, ok := parseScript(cutSource(text))
	if !ok {
		return location{name: text}
	}
	if len(l.name) == 0 {
		l.name = append([]byte(rootScope), l.place...)
	}
	return l
}

// parseNative reads "name (in module)".
func parseNative(text []byte) (l location, ok bool) {
	i := bytes.LastIndex(text, []byte(" (in "))
	if i < 0 {
		return l, false
	}
	l.kind, l.name = isNative, bytes.TrimPrefix(text[:i], []byte("non-virtual thunk to "))
	module, rest, found := bytes.Cut(text[i+len(" (in "):], []byte(")"))
	if l.place = module; !found {
		return l, false
	}
	switch {
	case len(rest) == 0:
		return l, true
	case bytes.HasPrefix(rest, []byte(" + ")):
		_, err := strconv.ParseUint(string(rest[3:]), 10, 64)
		return l, err == nil
	case bytes.HasPrefix(rest, []byte(" (")) && rest[len(rest)-1] == ')':
		var column int32
		l.file, l.fileLine, column, ok = cutPlace(rest[2 : len(rest)-1])
		return l, ok && column == 0
	}
	return l, false
}

// parseScript reads "name (place:line:column)" and "place:line:column", which
// has no name.
func parseScript(text []byte) (l location, ok bool) {
	l.kind = isScript
	if n := len(text); n > 0 && text[n-1] == ')' {
		i := bytes.LastIndex(text, []byte(" ("))
		if i < 0 {
			return l, false
		}
		l.name, text = text[:i], text[i+2:n-1]
	}
	l.place, l.line, l.column, ok = cutPlace(text)
	l.place = lastPlace(l.place)
	return l, ok && len(l.place) > 0
}

// lastPlace is the last of a chain.
func lastPlace(chain []byte) []byte {
	if i := bytes.LastIndex(chain, arrow); i >= 0 {
		return chain[i+len(arrow):]
	}
	return chain
}

// cutPlace reads "place:line:column" and "place:line".
func cutPlace(text []byte) (place []byte, line, column int32, ok bool) {
	place, line, ok = cutNumber(text)
	if before, first, two := cutNumber(place); ok && two {
		place, line, column = before, first, line
	}
	return place, line, column, ok && len(place) > 0
}

// cutNumber takes a colon and a number off the end.
func cutNumber(text []byte) (rest []byte, n int32, ok bool) {
	i := bytes.LastIndexByte(text, ':')
	if i < 0 || i+1 == len(text) {
		return text, 0, false
	}
	number, err := strconv.ParseUint(string(text[i+1:]), 10, 31)
	if err != nil {
		return text, 0, false
	}
	return text[:i], int32(number), true
}

// cutSource takes the number of a source, [12], off the end.
func cutSource(text []byte) []byte {
	n := len(text)
	i := bytes.LastIndexByte(text, '[')
	if i < 0 || text[n-1] != ']' {
		return text
	}
	if _, ok := jsonfile.Int(text[i+1 : n-1]); !ok {
		return text
	}
	return text[:i]
}
