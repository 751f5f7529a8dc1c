// Package gecko reads the two profile formats of Firefox Profiler: Gecko profiles, as Firefox
// writes them, and processed profiles, as the viewer and other tools save them.
//
// Versions are not told apart. A table is read by the columns it has, whether it stores rows behind
// a schema (Gecko) or columns (processed); strings, stacks and libraries come from the thread, or
// else from what threads share; renamed members are known by all their names. So Gecko profiles
// from version 3 on, the first that the viewer upgrades, and all processed ones can be read, and
// newer ones as far as they say the same things in the same way. Up to version 4 parts of a profile
// are JSON within strings: [Profile.Unfold] takes them out first.
//
// A file of any size is read in little memory. The beginning of a file refers to its end, so
// it is read three times:
//
//  1. to locate things (jsonfile.Index): on opening, and again on reading, since there may be
//     thousands of files;
//  2. the markers, to find all events and fields, because schemas don't list all of them
//     (survey.go);
//  3. the rows, thread by thread, after the tables they refer to.
//
// The memory taken meanwhile counts against the limit of the Copy: see [stream.Claim].
//
// The profile's parts become these events:
//
//   - Samples of one time and stack in a Gecko profile are one sample of that weight.
//   - Weights in ms make Waits, weights in bytes make Allocations.
//   - Event delays are Delays; the viewer derives its Jank markers from them, so those are then
//     skipped.
//   - A marker's name is the event's, unless it contains a URL or there are too many names: then
//     the type is the event's name, and the name is a field, which the event says (NameField).
//   - The event takes its type and all that a schema says of it. Old profiles without schemas get
//     those built into the viewer (old.go).
//   - Payload members are fields; those that no schema lists are marked so. Values that are neither
//     numbers nor strings, or don't fit their field, are JSON.
//   - Payload members that the viewer's code knows without a schema mean what they mean there:
//     times, string indexes, details of collections (schema.go).
//   - A frame without a category has its caller's.
//   - Counters are what our own sinks say of them, else what the viewer takes them for: bytes,
//     energy, shares of time.
//   - The site of a process, and whether it was private, are attributes of the process.
//
// A value that cannot be taken as it stands is a ledger line: the wrong kind, an index out of
// range, an unknown word, an end before its start, a missing mandatory member. Parts, tables and
// objects note such values when asked for them (part.go, table.go); nothing bypasses them. A newer
// version than known here is a ledger line, too, and so is, with a count, whatever has no place:
// implementations of frames, source maps, traced JavaScript values, and so on.
//
// JsonSlabs files are the same in a binary shell: [Unslab] takes it off.
package gecko

import (
	"bytes"
	"errors"
)

// ErrForeign says that a JSON file is not a profile.
var ErrForeign = errors.New("not a profile of Firefox Profiler")

// slabs begins a JsonSlabs file.
const slabs = "\xdc\xdf\x4a\x53\x4c\x42\x01\x00"

// IsSlabs reports whether head begins a JsonSlabs file.
func IsSlabs(head []byte) bool { return bytes.HasPrefix(head, []byte(slabs)) }

// firstKeys are the keys that a profile may begin with.
var firstKeys = []string{
	"meta", "libs", "threads", "shared", "pages", "counters", "processes", "sources", "profile", "pausedRanges",
	"profilerOverhead", "profilingLog", "profileGatheringLog", "jsTracerDictionary", "tasktracer", "$schema",
	"label", // of what the developer tools saved until Firefox 90: the profile is a member
}

// Sniff reports whether head may begin a profile: a JSON object whose first key is one of
// firstKeys.
func Sniff(head []byte) bool {
	head = bytes.TrimPrefix(head, []byte("\ufeff"))
	rest, ok := bytes.CutPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("{"))
	if !ok {
		return false
	}
	rest, ok = bytes.CutPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte(`"`))
	for _, key := range firstKeys {
		if ok && bytes.HasPrefix(rest, []byte(key+`"`)) {
			return true
		}
	}
	return false
}
