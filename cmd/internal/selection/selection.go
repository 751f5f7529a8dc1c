// Package selection reads the flags that say what of a recording is wanted, and what of
// that may be seen: a period, processes, tracks and markers, redaction, expiry. It makes
// a Source of what was found.
package selection

import (
	"gprof/ingest"
	"gprof/stream"
	"gprof/stream/redact"
)

// Selection is the flags that say what of a recording is read, and how it is shown.
// All commands that show events have them.
type Selection struct {
	Expiry
	Filter
	Privacy
}

// Source returns the events of what was found that are wanted, as they may be seen.
// It may be called once for what was found. Rows that wait lie in the directory temp.
func (s *Selection) Source(found *ingest.Found, temp string) (stream.Source, error) {
	f := s.Filter
	f.spill = temp
	if s.Redact.Given {
		how := s.Redact.how
		how.Key = s.key
		f.redact = redact.New(how)
	}
	src, err := f.events(found)
	if err != nil {
		return nil, err
	}
	if f.redact != nil {
		src = f.redact.Source(src)
	}
	return f.tag(src), nil
}
