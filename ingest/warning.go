package ingest

import (
	"errors"
	"io/fs"

	"gprof/ingest/archive"
	"gprof/ingest/internal/damage"
	"gprof/ingest/patience"
	"gprof/stream"
)

// Warning says what was left out of an input, or that it gave nothing. Its text
// names the path as a person finds it, which must not get into an output.
type Warning struct {
	path  string
	label string // what names it in an output: no directory outside of archives
	whole bool   // the input itself, not just a part of it
	err   error
}

// newWarning is one about an input.
func newWarning(path, label string, err error) *Warning {
	if p, ok := err.(*fs.PathError); ok {
		err = p.Err // the path stands in front of it already
	}
	return &Warning{path: path, label: label, whole: true, err: err}
}

func (w *Warning) Error() string { return printable(w.path) + ": " + w.err.Error() }

// Whole says whether it is about an input as a whole, which gave nothing or not
// all that was to come, and not about a part of it that was left out.
func (w *Warning) Whole() bool { return w.whole }

func (w *Warning) Unwrap() error { return w.err }

// reasons says which reason of the ledger an error is; the first that fits
// counts.
var reasons = []struct {
	err    error
	reason stream.Reason
}{
	{patience.ErrStalled, stream.ReasonStalled},
	{archive.ErrTwice, stream.ReasonDuplicate},
	{errAgain, stream.ReasonDuplicate},
	{archive.ErrTorn, stream.ReasonTorn},
	{archive.ErrDamaged, stream.ReasonDamaged},
	{damage.ErrTorn, stream.ReasonTorn},
	{damage.ErrDamaged, stream.ReasonDamaged},
	{damage.ErrTooBig, stream.ReasonRefused},
	{archive.ErrEscape, stream.ReasonRefused},
	{archive.ErrName, stream.ReasonRefused},
	{archive.ErrLink, stream.ReasonRefused},
	{archive.ErrSpecial, stream.ReasonRefused},
	{archive.ErrTooBig, stream.ReasonRefused},
	{archive.ErrClash, stream.ReasonRefused},
	{archive.ErrOverlap, stream.ReasonRefused},
	{archive.ErrLies, stream.ReasonRefused},
	{archive.ErrMethod, stream.ReasonRefused},
	{archive.ErrMany, stream.ReasonRefused},
	{archive.ErrBomb, stream.ReasonRefused},
	{ErrNested, stream.ReasonRefused},
}

// line is the warning in the ledger.
func (w *Warning) line() stream.Line {
	l := stream.Line{Reason: stream.ReasonUnreadable, What: "inputs", Where: printable(w.label), Count: 1}
	if !w.whole && w.err != errAgain {
		l.What = "members"
	}
	for _, r := range reasons {
		if errors.Is(w.err, r.err) {
			l.Reason = r.reason
			if r.reason == stream.ReasonRefused {
				l.Where += ": " + r.err.Error()
			}
			break
		}
	}
	return l
}
