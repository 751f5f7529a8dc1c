// Package selection reads the flags for what part of recordings to show, and what of it
// to hide: a period, processes, tracks and markers, redaction, expiry. It makes a Source
// of the recordings.
package selection

import (
	"gprof/ingest"
	"gprof/stream"
	"gprof/stream/redact"
)

// Selection are the flags for what of a recording is read, and how it is shown. All
// commands that show events have them.
type Selection struct {
	Expiry
	Filter
	Privacy
}

// Source returns the selected events, redacted. It may be called once for what was found.
// Rows that wait are kept in the directory temp.
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
