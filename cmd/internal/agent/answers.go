package agent

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// maxAnswer bounds an answer, in tokens as [tokens] counts them, and maxTold what it says about losses.
const (
	maxAnswer = 780
	maxTold   = 150
)

// answers are those that were cut.
type answers struct {
	mu   sync.Mutex
	last int
	kept map[string]string // what is left, by handle
}

// Of so many answers the rest is kept, and so much of each.
const (
	maxKept = 32
	maxRest = 1 << 20
)

// first is an answer, with what was told about it, and the beginning of its text. Losses come first: an
// assistant must not miss them.
func (s *answers) first(told, text string) string {
	lines := strings.Split(strings.TrimSpace(aligning().ReplaceAllString(told, "  ")), "\n")
	slices.SortStableFunc(lines, func(a, b string) int { return strings.Compare(information(a), information(b)) })
	told = strings.Join(lines, "\n")
	if told != "" {
		told = cut(told, maxTold) + "\n"
	}
	return told + s.page(text, maxAnswer-tokens(told))
}

// information is "info" of a line of the ledger that is no loss, such as what was redacted because it was asked for; "" of others.
func information(line string) string {
	severity, _, _ := strings.Cut(line, " ")
	if severity != "info" {
		return ""
	}
	return severity
}

// aligning are what tables are aligned by.
var aligning = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`  +`) })

// next is the next part of an answer that was cut.
func (s *answers) next(handle string) (string, error) {
	s.mu.Lock()
	text, ok := s.kept[handle]
	s.mu.Unlock()
	if !ok {
		return "", fmt.Errorf("there is no rest %q; answers that were cut name theirs, the last %d are kept", cut(handle, 20), maxKept)
	}
	return s.page(text, maxAnswer), nil
}

// page is the beginning of a text, in whole lines; the rest is kept.
func (s *answers) page(text string, most int) string {
	text = strings.TrimRight(text, "\n ")
	if text == "" || tokens(text) <= most {
		return text
	}
	most -= 20 // for the last line
	var out strings.Builder
	rest := text
	for rest != "" {
		line, behind, _ := strings.Cut(rest, "\n")
		n := tokens(line) + 1
		if n > most {
			if out.Len() > 0 {
				break
			}
			line = cut(line, most)
		}
		most -= n
		out.WriteString(line + "\n")
		rest = behind
	}
	if rest == "" {
		return out.String()
	}
	lines := 1 + strings.Count(rest, "\n")
	if len(rest) > maxRest {
		rest = rest[:maxRest] + "\n(the rest was not kept)"
	}
	fmt.Fprintf(&out, "(%d lines more: query more=%s)", lines, s.keep(rest))
	return out.String()
}

func (s *answers) keep(rest string) (handle string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil {
		s.kept = map[string]string{}
	}
	s.last++
	handle = fmt.Sprint("a", s.last)
	s.kept[handle] = rest
	delete(s.kept, fmt.Sprint("a", s.last-maxKept))
	return handle
}

// cut is the beginning of a text, of at most so many tokens.
func cut(text string, most int) string {
	if tokens(text) <= most {
		return text
	}
	low, high := 0, len(text)
	for low+1 < high {
		if mid := (low + high) / 2; tokens(text[:mid]) < most {
			low = mid
		} else {
			high = mid
		}
	}
	for low > 0 && !utf8.RuneStart(text[low]) {
		low--
	}
	return text[:low] + "…"
}

// tokens is about how many tokens an assistant reads in a text, rather more than fewer: one for three letters
// or digits of one kind in a row, and for each other character but single spaces.
func tokens(text string) (n int) {
	class, run := 0, 0
	end := func() {
		switch class {
		case letters, digits:
			n += (run + 2) / 3
		case spaces:
			n += run / 2
		case others:
			n += run
		}
		run = 0
	}
	for _, r := range text {
		if c := classOf(r); c != class {
			end()
			class = c
		}
		run++
		if r > unicode.MaxLatin1 {
			n++
		}
	}
	end()
	return n
}

const (
	letters = 1 + iota
	digits
	spaces
	others
)

func classOf(r rune) int {
	switch {
	case 'a' <= r|0x20 && r|0x20 <= 'z':
		return letters
	case '0' <= r && r <= '9':
		return digits
	case r == ' ':
		return spaces
	}
	return others
}
