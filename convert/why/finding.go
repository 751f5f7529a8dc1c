package why

import (
	"cmp"
	"fmt"

	"gprof/stream"
)

// Severity is how sure a finding is, and whether it explains what went wrong.
type Severity uint8

const (
	Note   Severity = iota // worth knowing; healthy programs have it, too
	Likely                 // something went wrong here; it may be the effect of something else
	Cause                  // it changed, or grew without end, and what did it is known
)

var severities = []string{"note", "likely", "cause"}

func (s Severity) String() string { return severities[s] }

// MarshalText gives the name.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the name.
func (s *Severity) UnmarshalText(text []byte) error {
	for i, name := range severities {
		if name == string(text) {
			*s = Severity(i)
			return nil
		}
	}
	return fmt.Errorf("severity %q: want one of %v", text, severities)
}

// Finding is one thing that a [Detector] found in one process, or in several of a session.
type Finding struct {
	Detector string   `json:"detector"`
	Severity Severity `json:"severity"`
	Process  string   `json:"process"`             // its title; of several: what they have in common
	Instance string   `json:"instance"`            // of the process, "" of several
	Text     string   `json:"text"`                // one sentence that names it
	Evidence []string `json:"evidence"`            // figures; never empty
	More     []string `json:"more"`                // arguments of gprof-convert that show more, without the inputs, which go before the first flag
	Since    int64    `json:"since_ns"`            // when it began, Unix time; 0: it was so all the time
	Explains float64  `json:"explains"`            // share of what it is about, 0 to 1
	EffectOf string   `json:"effect_of,omitempty"` // the detector of the finding of which this is an effect, if it is

	id     stream.ProcessID
	covers []stream.ProcessID // of several: all that it is about
	order  int                // of its detector
	about  About
}

// compareFindings orders findings: the surest first, of them those about the program itself, then those that
// explain most.
func compareFindings(a, b *Finding) int {
	return cmp.Or(cmp.Compare(b.Severity, a.Severity), cmp.Compare(elsewhere(a), elsewhere(b)), cmp.Compare(b.Explains, a.Explains), cmp.Compare(a.order, b.order), cmp.Compare(a.id, b.id), cmp.Compare(a.Text, b.Text))
}

func elsewhere(f *Finding) int {
	if f.about.Elsewhere {
		return 1
	}
	return 0
}
