package batch

import (
	"encoding/json"
	"time"

	"gprof/cmd/internal/input"
	"gprof/stream/filter"
)

// settings are all that an output depends on, besides its input and format: the program,
// and the flags that change a byte. The journal has them as JSON, and an output is made
// again when that text changes. So it must be the same for every build: fields are listed
// here one by one, in this order, and new ones are left out if they are zero.
type settings struct {
	Program       string          `json:"program"`
	Symbols       []string        `json:"symbols,omitempty"` // each with the fingerprint of its files
	KeepExpired   bool            `json:"keep_expired,omitempty"`
	ExpireCrashed bool            `json:"expire_crashed,omitempty"`
	ExpireAfter   time.Duration   `json:"expire_after,omitempty"`
	From          string          `json:"from,omitempty"`
	To            string          `json:"to,omitempty"`
	Last          time.Duration   `json:"last,omitempty"`
	Process       filter.Patterns `json:"process,omitempty"`
	Track         filter.Tracks   `json:"track,omitempty"`
	Category      filter.Patterns `json:"category,omitempty"`
	During        []string        `json:"during,omitempty"`
	Trace         []string        `json:"trace,omitempty"`
	DuringAll     bool            `json:"during_all,omitempty"`
	TagRoot       []string        `json:"tagroot,omitempty"`
	Tracks        string          `json:"tracks,omitempty"`
	Redact        string          `json:"redact,omitempty"`
	Compression   string          `json:"compression,omitempty"`
	Buckets       time.Duration   `json:"buckets,omitempty"`
	Sum           bool            `json:"sum,omitempty"`
	Per           string          `json:"per,omitempty"`
}

// describe returns the settings of a batch as in the journal.
func (c *Options) describe() (string, error) {
	version, err := input.Program()
	if err != nil {
		return "", err
	}
	s := settings{
		Program: version, KeepExpired: c.KeepExpired, ExpireCrashed: c.ExpireCrashed, ExpireAfter: c.ExpireAfter,
		From: c.From, To: c.To, Last: time.Duration(c.Last), Process: c.Process, Track: c.Track, Category: c.Category,
		During: c.During, Trace: c.Trace, DuringAll: c.DuringAll, TagRoot: c.TagRoot, Tracks: c.Tracks, Redact: c.Privacy.Settings(),
		Compression: c.Compression, Buckets: time.Duration(c.Buckets), Sum: c.Sum, Per: c.Per.String(),
	}
	for _, path := range c.Symbols {
		sum, _, err := input.Fingerprint(path, func(string) bool { return false })
		if err != nil {
			return "", err
		}
		s.Symbols = append(s.Symbols, path+" "+sum)
	}
	text, err := json.Marshal(s)
	return string(text), err
}
