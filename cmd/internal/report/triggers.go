package report

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"gprof/cmd/internal/human"
	"gprof/stream"
	"gprof/stream/wording"
)

// triggerSummary is what became of one rule of a process' triggers, as far as the recording reaches.
type triggerSummary struct {
	Rule    string           `json:"rule"`
	Fired   int              `json:"fired"`
	Held    uint64           `json:"held_back"` // how often it did not act, because it may only so often
	Off     string           `json:"off,omitempty"`
	Unknown string           `json:"unknown_event,omitempty"` // that the rule names, if it never fired and nothing recorded is of it
	Firings []*firingSummary `json:"firings"`                 // the first and the last ones
}

// firingSummary is one time that a rule acted.
type firingSummary struct {
	Time   time.Time `json:"time"`
	Value  string    `json:"value,omitempty"` // what was seen
	Flow   string    `json:"flow,omitempty"`
	Kept   []string  `json:"kept,omitempty"` // files: snapshots lie in the directory triggered of the session, traces beside the recording
	Failed string    `json:"failed,omitempty"`
}

// maxFirings bounds how many firings of a rule are shown: the first half and the last.
const maxFirings = 40

// triggerSink is a Sink that keeps what markers say about triggers.
type triggerSink struct {
	tables *stream.Tables
	rules  map[stream.ProcessID][]*triggerSummary // in the order in which they appear
}

func (s *triggerSink) Begin(t *stream.Tables) error {
	s.tables, s.rules = t, map[stream.ProcessID][]*triggerSummary{}
	return nil
}

func (s *triggerSink) Close() error { return nil }

func (s *triggerSink) Segment(b *stream.Batch) error {
	for _, m := range s.tables.TriggerMarks(b) {
		s.rule(b.Series.Process, m.Rule).add(&m)
	}
	return nil
}

// maxRules is how many rules of a process are shown: recorders have fewer.
const maxRules = 100

func (s *triggerSink) rule(process stream.ProcessID, text string) *triggerSummary {
	rules := s.rules[process]
	for _, r := range rules {
		if r.Rule == text {
			return r
		}
	}
	if len(rules) == maxRules {
		return new(triggerSummary)
	}
	r := &triggerSummary{Rule: text, Firings: []*firingSummary{}}
	s.rules[process] = append(rules, r)
	return r
}

// texts are those of all rules that are known.
func (s *triggerSink) texts() (all []string) {
	for _, rules := range s.rules {
		for _, r := range rules {
			all = append(all, r.Rule)
		}
	}
	return all
}

// addRules adds those rules of a process that nothing is told of.
func (p *processSummary) addRules() {
	for _, text := range oneRule().FindAllString(p.Tests["triggers"], -1) {
		if text = strings.TrimSpace(text); text == "" || len(p.Triggers) == maxRules {
			continue
		}
		if !slices.ContainsFunc(p.Triggers, func(r *triggerSummary) bool { return r.Rule == text }) {
			p.Triggers = append(p.Triggers, &triggerSummary{Rule: text, Firings: []*firingSummary{}})
		}
	}
}

// nameUnknown notes which events rules wait for that were never recorded, if all is there of what was.
func (p *processSummary) nameUnknown() {
	if slices.ContainsFunc(p.Losses, func(l LedgerLine) bool { return l.Reason == stream.ReasonLeftOut.String() }) {
		return
	}
	for _, r := range p.Triggers {
		if name := eventOf(r.Rule); r.Fired == 0 && p.Events[name] == 0 {
			r.Unknown = name
		}
	}
}

const quotedText = `"(?:\\.|[^"\\])*"`

var (
	// oneRule is a rule of several that semicolons separate.
	oneRule = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:` + quotedText + `|[^;"])+`) })
	// slowRule is one about an event; the name is one of the first two groups, the third is a duration.
	slowRule = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\s*(?:p[0-9.]+\((` + quotedText + `|[^">]+)\)|(` + quotedText + `|[^">]+?))\s*>\s*([0-9.a-zµ]+)(?: for [^:]*)?\s*:`)
	})
)

// eventOf is the name of the event that a rule is about, "" if it is about something else.
func eventOf(rule string) string {
	m := slowRule().FindStringSubmatch(rule)
	if m == nil {
		return ""
	}
	if _, err := time.ParseDuration(m[3]); err != nil {
		return "" // such as goroutines>10000
	}
	name := cmp.Or(m[1], m[2])
	if unquoted, err := strconv.Unquote(name); err == nil {
		return unquoted
	}
	return name
}

// add adds what a marker says. Markers come in the order of time.
func (r *triggerSummary) add(m *stream.TriggerMark) {
	r.Held += m.Held
	_, why, _ := strings.Cut(m.What, ": ")
	switch {
	case m.Is(stream.TriggerOff):
		r.Off = why
		return
	case m.Is(stream.TriggerOn):
		r.Off = ""
		return
	case m.Is(stream.TriggerHeld):
		return
	case m.Is(stream.TriggerFired), len(r.Firings) == 0:
		r.fire(m)
	}
	last := r.Firings[len(r.Firings)-1]
	switch {
	case m.Is(stream.TriggerKept):
		last.Kept = append(last.Kept, m.File)
	case m.Is(stream.TriggerFailed):
		last.Failed = why
	}
}

func (r *triggerSummary) fire(m *stream.TriggerMark) {
	r.Fired++
	if len(r.Firings) == maxFirings {
		r.Firings = append(r.Firings[:maxFirings/2], r.Firings[maxFirings/2+1:]...)
	}
	f := &firingSummary{Time: Moment(m.Time), Value: m.Value}
	if m.Flow != 0 {
		f.Flow = fmt.Sprintf("%#x", m.Flow)
	}
	r.Firings = append(r.Firings, f)
}

// print prints what became of the rule, in a table of two columns.
func (r *triggerSummary) print(w io.Writer, start time.Time) {
	text := fmt.Sprintf("fired %s", human.Plural(r.Fired, "time"))
	if r.Held > 0 {
		text += fmt.Sprintf(", held back %s", human.Plural(int(min(r.Held, 1<<62)), "time"))
	}
	if r.Off != "" {
		text += "; off: " + r.Off
	}
	if r.Unknown != "" {
		text += fmt.Sprintf("; no event is named %q here: rules take names of events, not what markers show in place of them", r.Unknown)
	}
	fmt.Fprintf(w, "  trigger\t%s: %s\n", wording.Printable(r.Rule), wording.Printable(text))
	for i, f := range r.Firings {
		if r.Fired > len(r.Firings) && i == maxFirings/2 {
			fmt.Fprintf(w, "\t  … and %d more\n", r.Fired-len(r.Firings))
		}
		line := fmt.Sprintf("+%v", f.Time.Sub(start).Round(time.Millisecond))
		for _, part := range []struct{ label, text string }{{"", f.Value}, {"flow ", f.Flow}, {"kept as ", strings.Join(f.Kept, ", ")}, {"failed: ", f.Failed}} {
			if part.text != "" {
				line += ", " + part.label + part.text
			}
		}
		fmt.Fprintf(w, "\t  %s\n", wording.Printable(line))
	}
}
