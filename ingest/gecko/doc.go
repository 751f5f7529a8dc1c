// Package gecko reads the two profile formats of Firefox Profiler: Gecko
// profiles, as Firefox writes them, and processed profiles, as the viewer saves
// them and as other tools write them.
//
// Versions are not told apart. A table is read by the columns that it has,
// whether it lies there row by row behind a schema (Gecko) or column by column
// (processed); strings, stacks and libraries are taken from the thread, and where
// it has none from what threads share. What has been renamed is known by all its
// names. So Gecko profiles from version 3 on, the first that the viewer upgrades, and all
// processed ones can be read, and newer ones as far as they say the same in the same way.
// Until version 4 some of a profile are texts: they are unfolded first ([Profile.Unfold]).
//
// A file of any size is read in little memory. What comes first in it refers to
// what comes last; so it is gone through three times:
//
//  1. where is what (jsonfile.Index): when it is opened, and again when it is read, for
//     there may be thousands of files;
//  2. the markers: which events there are, and which fields these have, for a
//     profile's schemas don't tell all of them (survey.go);
//  3. the rows, thread by thread, behind the tables that they refer to.
//
// What is known of it meanwhile counts against the ceiling of the Copy (stream.Tables.Hold).
//
// What is told and what stands for it:
//
//   - Samples of one time and stack are one, of that weight, in a Gecko profile.
//   - Times of events (weights in ms) are Waits, bytes are Allocations.
//   - Delays of the event loop are Delays; the viewer's Jank markers are made of
//     these, so they are not read beside them.
//   - A marker's name is the event's, unless it has a URL in it or there are too
//     many of them: then the type is the event's name, and the name a field, which
//     the event says (NameField).
//   - The type is the event's, with all that a schema says of it. Where old profiles
//     bring no schemas, those are taken that the viewer has for them (old.go).
//   - Payloads are fields; those that no schema lists are marked so. A value that is
//     no number and no text, or is none where its field says so, is JSON.
//   - What the viewer's code looks up in payloads without a schema is what it is
//     there: times, strings by number, details of collections (special.go).
//   - Categories that a frame does not name are those of its caller.
//   - Counters are what a sink of ours says of them, else what the viewer takes them for:
//     bytes, energy, shares of time.
//   - The site of a process, and whether it was private, are attributes of it.
//
// A value that cannot be taken as it stands is a line in the ledger: one of another kind
// than its place asks for, an index out of range, a word of no list, an end before its
// start, a missing member that each profile of that version has. Parts, tables and objects
// note it when they are asked (part.go, table.go, notes.go); nothing reads the file beside
// them. A version that is newer than what is known here is a line, too.
//
// What has no place is in the ledger, with a count: implementations of frames,
// maps of sources, traces of JavaScript values, and so on.
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

// IsSlabs reports whether head is the beginning of a JsonSlabs file.
func IsSlabs(head []byte) bool { return bytes.HasPrefix(head, []byte(slabs)) }

// firstKeys are the keys of a profile, one of which is its first.
var firstKeys = []string{
	"meta", "libs", "threads", "shared", "pages", "counters", "processes", "sources", "profile", "pausedRanges",
	"profilerOverhead", "profilingLog", "profileGatheringLog", "jsTracerDictionary", "tasktracer", "$schema",
	"label", // of what the developer tools saved until Firefox 90: the profile is a member
}

// Sniff reports whether head may be the beginning of a profile: of a JSON object
// whose first key is one of a profile.
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
