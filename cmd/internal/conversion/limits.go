package conversion

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gprof/cmd/internal/console"
	"gprof/cmd/internal/human"
	"gprof/convert/compare"
	"gprof/stream"
	"gprof/stream/wording"
)

// Limits are the conditions for an exit code of their own: certain lines in the ledger
// and, if two sets are compared, differences.
type Limits struct {
	FailIf []limit `sep:"none" placeholder:"WHAT" help:"Exit with 4 if the ledger holds a line of this severity (loss, unsure) or reason (gap, torn, damaged, dropped, ...); diff takes conditions, too. Several are separated by commas."`
}

// limit is one use of the flag.
type limit struct {
	text       string
	words      []string            // severities and reasons
	conditions []compare.Condition // of a comparison
}

// UnmarshalText reads the value of the flag. It refuses words that no line of the ledger
// can have and that are no conditions.
func (l *limit) UnmarshalText(text []byte) error {
	l.text = string(text)
	for _, part := range splitCommas(l.text) {
		if compare.IsCondition(part) {
			c, err := compare.ParseCondition(part)
			if err != nil {
				return err
			}
			l.conditions = append(l.conditions, c)
			continue
		}
		part = strings.TrimSpace(part)
		if all := allLedgerWords(); !slices.Contains(all, part) {
			return fmt.Errorf("%s: want a severity or a reason of the ledger: %s; or, for diff, a condition such as %q of %s",
				part, strings.Join(all, ", "), "p99(http.request) > +10%", compare.Figures)
		}
		l.words = append(l.words, part)
	}
	return nil
}

// splitCommas splits at commas that are not in brackets: names of functions have commas,
// too.
func splitCommas(s string) (parts []string) {
	depth, from := 0, 0
	for i, c := range s {
		switch c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth = max(0, depth-1)
		case ',':
			if depth == 0 {
				parts, from = append(parts, s[from:i]), i+1
			}
		}
	}
	return append(parts, s[from:])
}

func allLedgerWords() []string {
	words := []string{stream.Loss.String(), stream.Unsure.String(), stream.Info.String()}
	for r := range stream.NumReasons {
		words = append(words, r.String())
	}
	return words
}

// errConditions is the error for a condition if nothing is compared.
var errConditions = errors.New("a condition needs two sets: gprof-convert diff --base OLD --new NEW --fail-if CONDITION; other commands take words of the ledger, such as loss or gap")

// Alone refuses conditions, for commands that do not compare.
func (f *Limits) Alone() error {
	for _, c := range f.Conditions() {
		return console.Exit(console.Usage, fmt.Errorf("--fail-if %s: %w", c.Text, errConditions))
	}
	return nil
}

func (f *Limits) Conditions() (all []compare.Condition) {
	for _, l := range f.FailIf {
		all = append(all, l.conditions...)
	}
	return all
}

// asksFor reports whether a reason or its severity is among the limits.
func (f *Limits) asksFor(r stream.Reason) bool {
	return slices.ContainsFunc(f.FailIf, func(l limit) bool {
		return slices.Contains(l.words, r.String()) || slices.Contains(l.words, r.Severity().String())
	})
}

// Text is all values of the flag.
func (f *Limits) Text() string {
	var texts []string
	for _, l := range f.FailIf {
		texts = append(texts, l.text)
	}
	return strings.Join(texts, ",")
}

// Check returns the error of the first line that hits a limit.
func (f *Limits) Check(l *stream.Ledger) error {
	for _, line := range l.Lines() {
		if f.asksFor(line.Reason) {
			return console.Exit(console.Limit, fmt.Errorf("--fail-if %s: process %s: %d %s: %s%s", f.Text(), human.OrDash(line.Process), line.Count, line.What, wording.Reason(line.Reason), human.OnlyIf(line.Where != "", " ("+line.Where+")")))
		}
	}
	return nil
}

// Hits reports whether one of the reasons hits a limit.
func (f *Limits) Hits(reasons []string) bool {
	for r := range stream.NumReasons {
		if slices.Contains(reasons, r.String()) && f.asksFor(r) {
			return true
		}
	}
	return false
}
