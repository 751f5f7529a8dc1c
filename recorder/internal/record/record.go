// Package record builds the bodies of records: the definitions in a dictionary, and the contents of meta and exit files.
package record

import (
	"unicode/utf8"

	"gprof/rawformat"
)

// MaxName is the longest text of a record, in bytes. Longer ones are cut.
const MaxName = 4 << 10

// Body is the body of a record that is being built.
type Body []byte

// New begins the body of a record of that kind.
func New(k rawformat.Kind) Body { return Body{byte(k)} }

// Uint appends a field of type U.
func (b Body) Uint(v uint64) Body { return rawformat.AppendUint(b, v) }

// Sint appends a field of type S.
func (b Body) Sint(v int64) Body { return rawformat.AppendSint(b, v) }

// Fixed appends a field of type X.
func (b Body) Fixed(v uint64) Body { return rawformat.AppendFixed(b, v) }

// Text appends a field of type B, of at most [MaxName] bytes.
func (b Body) Text(s string) Body { return rawformat.AppendText(b, clip(s)) }

// clip cuts texts longer than [MaxName], between two runes.
func clip(s string) string {
	if len(s) <= MaxName {
		return s
	}
	n := MaxName
	for n > MaxName-utf8.UTFMax && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
