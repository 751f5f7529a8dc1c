package conversion

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"gprof/stream"
	"gprof/stream/split"
)

// Parts is the flag for many files.
type Parts struct {
	Per division `placeholder:"WHAT" help:"Many files instead of one, for outputs that are called DIR/ or have {process}, {track} or {interval} in their name: one for each process, track, or interval=10s."`
}

// division is what each file is about.
type division struct {
	By    string // process, track or interval; "" all in one
	every time.Duration
}

// The least and the longest interval: a name has milliseconds, and clocks have
// 64 bits.
const (
	minInterval = time.Millisecond
	maxInterval = 366 * 24 * time.Hour
)

// UnmarshalText reads process, track or interval=DURATION.
func (p *division) UnmarshalText(text []byte) (err error) {
	p.By = string(text)
	switch by, every, _ := strings.Cut(p.By, "="); {
	case p.By == "process" || p.By == "track":
		return nil
	case by == "interval":
		p.By = by
		if p.every, err = time.ParseDuration(every); err == nil && minInterval <= p.every && p.every <= maxInterval && p.every%time.Millisecond == 0 {
			return nil
		}
		return fmt.Errorf("interval %q: want whole milliseconds, as in interval=10s", every)
	}
	return fmt.Errorf("%q: want process, track or interval=10s", text)
}

// String is the value of the flag, "" for one file.
func (p division) String() string {
	if p.every > 0 {
		return fmt.Sprintf("%s=%v", p.By, p.every)
	}
	return p.By
}

// Usual is the default pattern for the names of files in a directory.
func (p *division) Usual() string {
	return map[string]string{"process": "{process}", "track": "{process}/{track}", "interval": "{interval}"}[p.By]
}

// Apply finds out which targets are many files.
func (p *division) Apply(targets []Target) error {
	any := false
	for i := range targets {
		t := &targets[i]
		if p.By != "" && strings.HasSuffix(t.Name, "/") && !t.Format.Directory() {
			t.Name += p.Usual() + t.Format.Extension(t.Options)
		}
		if err := p.check(t); err != nil {
			return err
		}
		any = any || t.Many
	}
	if p.By != "" && !any {
		return fmt.Errorf("--per %s makes many files, but no -o says how to name them: write -o DIR/%s.pb.gz, or -o pprof=DIR/", p.By, p.Usual())
	}
	return nil
}

// check finds out whether a target is many files, and whether its name tells them apart.
func (p *division) check(t *Target) error {
	for _, word := range inBraces().FindAllString(t.Name, -1) {
		if slices.Contains(placeholders[p.By], word) {
			t.Many = true
		} else if p.By != "" || isPlaceholder(word) {
			return fmt.Errorf("-o %s: %s has no meaning %s", t.Name, word, p.hint())
		}
	}
	switch {
	case !t.Many && p.By == "interval":
		return fmt.Errorf("-o %s is a whole that --per interval has no place for: events come interval by interval; write it in a run of its own", t.Name)
	case !t.Many:
		return nil
	case t.Format.Directory():
		return fmt.Errorf("-o %s: %s is a directory of tables, in which all can be told apart anyway; it is not split", t.Name, t.Format.Name)
	}
	return p.distinct(t.Name)
}

var inBraces = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{[^{}]*\}`) })

func isPlaceholder(word string) bool {
	return slices.Contains(placeholders["track"], word) || slices.Contains(placeholders["interval"], word)
}

func (p *division) hint() string {
	if p.By == "" {
		return "without --per"
	}
	return fmt.Sprintf("with --per %s, which knows %s", p.By, strings.Join(placeholders[p.By], ", "))
}

// distinct returns an error if files of different parts would have the same name.
func (p *division) distinct(name string) error {
	if _, rest := root(name); !filepath.IsLocal(rest) {
		return fmt.Errorf("-o %s: what follows a placeholder must not lead out of its directory", name)
	}
	process := strings.Contains(name, "{process}") || strings.Contains(name, "{instance}")
	switch {
	case p.By == "process" && !process:
		return fmt.Errorf("-o %s: several processes may be of one service; put {process} or {instance} into the name", name)
	case p.By == "track" && !(process && strings.Contains(name, "{track}")):
		return fmt.Errorf("-o %s: tracks of several processes may have one name; put both {process} and {track} into the name", name)
	}
	return nil
}

// cut splits a source by time, if files are about intervals.
func (p *division) cut(src stream.Source) stream.Source {
	if p.By != "interval" {
		return src
	}
	return split.ByTime(src, stream.Time(p.every))
}
