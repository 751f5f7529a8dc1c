// Package trigger is the rules by which a recorder keeps what led to something: a condition,
// and what to do when it holds. It says when a rule fires; whoever uses it does what the rule
// asks for.
package trigger

import (
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"
)

// On is what a condition is about.
type On uint8

const (
	CPU        On = iota // share of the processors that the program may use
	Heap                 // share of the memory limit that is in use
	Goroutines           // how many there are
	GC                   // share of the program's CPU time that goes to garbage collection
	Slow                 // how long one marker took
	Percentile           // how long most of the markers of an event took
	Log                  // level of a log record
	Own                  // a function of the program
)

// Rule is one rule. Parse makes it.
type Rule struct {
	Text string // as it was written, without blanks around it
	On   On
	Name string // of a marker, or of the program's function

	Share    float64       // of CPU, Heap and GC: above it, the condition holds; 1 is all
	Count    int64         // likewise of Goroutines
	Duration time.Duration // likewise of Slow and Percentile
	Level    slog.Level    // of Log: records of that level and above
	Quantile float64       // of Percentile, above 0 and below 1

	For   time.Duration // for how long the condition must hold, or over what time it is measured
	Every time.Duration // it acts at most once in that time

	Snapshot bool          // keep what was recorded
	All      bool          // by all processes of the session
	Behind   time.Duration // how much of it
	Trace    bool          // take a window of the execution trace
	Ahead    time.Duration // how much of what follows
}

// Bounds of rules: each is more than anybody needs, so that a mistyped one is noticed.
const (
	MaxRules = 32
	maxText  = 1 << 10 // bytes of one rule
	maxFor   = time.Hour
	maxEvery = 7 * 24 * time.Hour
	minEvery = time.Second
	maxAhead = time.Minute
	maxCount = 1 << 40
)

// What a rule has if it does not say.
const (
	defaultEvery  = time.Minute
	defaultBehind = 30 * time.Second
	defaultAhead  = time.Second
	shareFor      = time.Second      // CPU and GC are measured over that
	quantileFor   = 10 * time.Second // likewise percentiles
)

var errTooMany = fmt.Errorf("more than %d rules", MaxRules)

// Parse reads rules separated by semicolons, none of which is about a function of the
// program. The error names the rule.
//
//	cpu>80% for 5s: snapshot; goroutines>10000: mark; http.request>2s: snapshot 10s, trace every 5m
//
// A rule is a condition, a colon, what to do, separated by commas, and perhaps how often. Names
// of markers that hold one of ; : > " are written in quotes, as Go writes them.
func Parse(text string) (rules []Rule, err error) {
	for _, one := range split(text, ';') {
		if strings.TrimSpace(one) == "" {
			continue
		}
		r, err := parse(one, false)
		if err != nil {
			return nil, err
		}
		rules = append(rules, r)
	}
	if len(rules) > MaxRules {
		return nil, errTooMany
	}
	return rules, nil
}

// ParseOne reads one rule. If own is set, its condition is the name of a function of the program.
func ParseOne(text string, own bool) (Rule, error) { return parse(text, own) }

func parse(text string, own bool) (r Rule, err error) {
	r = Rule{Text: strings.TrimSpace(text), Every: defaultEvery}
	if len(r.Text) > maxText {
		return r, fmt.Errorf("rule of %d bytes: want at most %d", len(r.Text), maxText)
	}
	if strings.ContainsFunc(r.Text, func(c rune) bool { return c < ' ' || c == 0x7f || c == '\uFFFD' }) {
		return r, fmt.Errorf("%q: want text without control characters", r.Text)
	}
	parts := split(r.Text, ':')
	n := len(parts) - 1
	if n == 0 {
		return r, fmt.Errorf("%q: want a condition, a colon, and what to do, such as cpu>80%%: snapshot", r.Text)
	}
	condition, actions := strings.Join(parts[:n], ":"), parts[n]
	if err = r.parseActions(actions); err == nil {
		err = r.parseCondition(condition, own)
	}
	if err != nil {
		return r, fmt.Errorf("%q: %w", r.Text, err)
	}
	return r, nil
}

// split splits a text at a separator, outside of quotes.
func split(text string, separator byte) (parts []string) {
	quoted, begin := false, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case c == separator && !quoted:
			parts = append(parts, text[begin:i])
			begin = i + 1
		}
	}
	return append(parts, text[begin:])
}

// parseActions reads "snapshot all 10s, trace, mark every 5m".
func (r *Rule) parseActions(text string) (err error) {
	list, every, limited := strings.Cut(text+" ", " every ")
	if limited {
		if r.Every, err = parseDuration(every, minEvery, maxEvery); err != nil {
			return fmt.Errorf("every %w", err)
		}
	}
	for action := range strings.SplitSeq(list, ",") {
		words := strings.Fields(action)
		if len(words) == 0 {
			return errors.New("want snapshot, trace or mark behind the colon")
		}
		if err := r.parseAction(words[0], words[1:]); err != nil {
			return fmt.Errorf("%s: %w", words[0], err)
		}
	}
	return nil
}

func (r *Rule) parseAction(what string, words []string) (err error) {
	switch what {
	case "snapshot":
		r.Snapshot, r.Behind = true, defaultBehind
		if len(words) > 0 && words[0] == "all" {
			r.All, words = true, words[1:]
		}
		return takeDuration(&r.Behind, words, maxFor)
	case "trace":
		r.Trace, r.Ahead = true, defaultAhead
		return takeDuration(&r.Ahead, words, maxAhead)
	case "mark":
		return takeDuration(nil, words, 0)
	}
	return errors.New("want snapshot, trace or mark")
}

// takeDuration reads the one word that there may be, if to is not nil.
func takeDuration(to *time.Duration, words []string, most time.Duration) (err error) {
	switch {
	case len(words) == 0:
		return nil
	case len(words) > 1 || to == nil:
		return fmt.Errorf("%q is too much", strings.Join(words, " "))
	}
	*to, err = parseDuration(words[0], time.Millisecond, most)
	return err
}

func parseDuration(text string, least, most time.Duration) (time.Duration, error) {
	d, err := time.ParseDuration(strings.TrimSpace(text))
	if err != nil || d < least || d > most {
		return 0, fmt.Errorf("%q: want a duration from %v to %v, such as 5s", strings.TrimSpace(text), least, most)
	}
	return d, nil
}

// parseCondition reads what stands before the colon.
func (r *Rule) parseCondition(text string, own bool) (err error) {
	if own {
		r.On = Own
		if r.Name, err = r.cutFor(text); err == nil && r.Name == "" {
			err = errors.New("want a name for the condition before the colon")
		}
		return err
	}
	sides := split(text, '>')
	if len(sides) != 2 {
		return errors.New("want one comparison with >, such as cpu>80%; a name that holds > in quotes")
	}
	right, err := r.cutFor(sides[1])
	if err == nil {
		err = r.compare(strings.TrimSpace(sides[0]), right)
	}
	if err != nil {
		return err
	}
	return r.settleFor()
}

// cutFor cuts off " for 5s" at the end, and blanks.
func (r *Rule) cutFor(text string) (rest string, err error) {
	i := strings.LastIndex(text, " for ")
	if i < 0 {
		return strings.TrimSpace(text), nil
	}
	if r.For, err = parseDuration(text[i+len(" for "):], time.Millisecond, maxFor); err != nil {
		return "", fmt.Errorf("for %w", err)
	}
	return strings.TrimSpace(text[:i]), nil
}

func (r *Rule) compare(left, right string) (err error) {
	switch left {
	case "cpu", "heap", "gc":
		r.On = map[string]On{"cpu": CPU, "heap": Heap, "gc": GC}[left]
		r.Share, err = parseShare(right)
	case "goroutines":
		r.On = Goroutines
		if r.Count, err = strconv.ParseInt(right, 10, 64); err != nil || r.Count < 0 || r.Count > maxCount {
			err = fmt.Errorf("%q: want a number, such as 10000", right)
		}
	case "log":
		r.On = Log
		level, ok := strings.CutPrefix(right, "=")
		if r.Level.UnmarshalText([]byte(strings.TrimSpace(level))) != nil || !ok {
			err = fmt.Errorf("%q: want log>=debug, log>=info, log>=warn or log>=error", left+">"+right)
		}
	default:
		return r.compareMarker(left, right)
	}
	return err
}

// compareMarker reads the name of a marker, or a percentile of it such as p99(name).
func (r *Rule) compareMarker(left, right string) (err error) {
	r.On, r.Name = Slow, left
	if p, inner, ok := strings.Cut(left, "("); ok && strings.HasPrefix(p, "p") && strings.HasSuffix(inner, ")") {
		if percent, err := strconv.ParseFloat(p[1:], 64); err == nil {
			if !(percent >= 1 && percent <= 99.9) {
				return fmt.Errorf("%q: want p1 to p99.9", p)
			}
			r.On, r.Quantile, r.Name = Percentile, percent/100, strings.TrimSuffix(inner, ")")
		}
	}
	if strings.HasPrefix(r.Name, `"`) {
		if r.Name, err = strconv.Unquote(r.Name); err != nil {
			return fmt.Errorf("%s: want a name in quotes as Go writes it", left)
		}
	}
	if r.Name == "" {
		return errors.New("want cpu, heap, goroutines, gc, log or the name of a marker before >")
	}
	r.Duration, err = parseDuration(right, time.Microsecond, 24*time.Hour)
	return err
}

// parseShare reads "80%" or "0.5%", more than 0 and less than all.
func parseShare(text string) (float64, error) {
	number, ok := strings.CutSuffix(text, "%")
	percent, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !ok || !(percent > 0 && percent < 100) {
		return 0, fmt.Errorf("%q: want more than 0%% and less than 100%%, such as 80%%", text)
	}
	return percent / 100, nil
}

// settleFor gives conditions that are measured over a time one, and refuses it for those that
// are of a moment.
func (r *Rule) settleFor() error {
	switch r.On {
	case Slow, Log:
		if r.For != 0 {
			return errors.New("want no time with for: it is about one marker")
		}
	case CPU, GC:
		r.For = max(r.For, shareFor)
	case Percentile:
		if r.For == 0 {
			r.For = quantileFor
		}
		r.For = max(r.For, shareFor)
	}
	return nil
}
