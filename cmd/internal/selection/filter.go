package selection

import (
	"errors"
	"fmt"

	"gprof/cmd/internal/console"
	"gprof/ingest"
	"gprof/stream"
	"gprof/stream/filter"
	"gprof/stream/redact"
)

// Filter are the flags for the part of a recording to show, and how it is grouped. All
// commands that read events have them.
type Filter struct {
	Period
	Process   filter.Patterns `sep:"none" placeholder:"P" help:"Only the processes with this instance (or the beginning of one), pid (12 or pid:12), name, service or host, or that info calls so. * and ? stand for characters. May be repeated."`
	Track     filter.Tracks   `sep:"none" placeholder:"NAME" help:"Only the tracks with this in their name, in any case, such as 'worker', and what belongs to no track, such as counters. * and ? stand for characters of the whole name, =NAME is exactly this one, pid:12 all tracks of a process, -NAME all others. May be repeated; the last that fits decides."`
	Category  filter.Patterns `sep:"none" placeholder:"NAME" help:"Only samples in functions, and markers, of this category, and what has none. * and ? stand for characters. May be repeated."`
	During    []string        `sep:"none" placeholder:"MARKER" help:"Only what the goroutine of a marker did while it lasted; if that is not known, its track; if it names none, its process: 'http.request', 'http.request[duration>100ms, status>=500]'. Operators: = != < <= > >= and ~ for a regular expression. May be repeated."`
	Trace     []string        `sep:"none" placeholder:"ID" help:"Only what goroutines did in spans of the trace with this id, 32 hexadecimal digits, as --during; and what says itself that it is of that trace. May be repeated, and beside --during: what any of them wants is kept."`
	DuringAll bool            `help:"With --during or --trace: all that happened in that time, on all tracks of all processes."`
	TagRoot   []string        `name:"tagroot" placeholder:"KEY" help:"Begin stacks with what they belong to, as KEY:value: track, goroutine, process, instance, pid, name, service, version, revision, host, a label of the program, or an attribute of the process. May be repeated."`
	Tracks    string          `enum:"named,root,thread,processor" default:"named" placeholder:"BY" help:"Tracks for what: named by the program, else the root function of goroutines (named), root functions alone (root), threads of the system for samples (thread), or Go's processors, which execution traces tell (processor). Default: ${default}."`

	States  bool `kong:"-"` // the states of goroutines that execution traces tell are wanted, too
	Headers bool `kong:"-"` // no events are wanted
	Every   int  `kong:"-"` // one of so many chunks is wanted; 0: all

	redact *redact.Redactor // of the source; nil: nothing is redacted
	spill  string           // directory for rows that wait
}

var errPercentile = errors.New("a percentile is known only once all is read; gprof-convert slow takes it, and says which duration it is")

var errDuringAll = errors.New("--during-all says how much of the time of --during or --trace is kept; give --during, too")

// groupings are the values of --tracks.
var groupings = map[string]ingest.Grouping{"named": ingest.ByTrack, "root": ingest.ByRoot, "thread": ingest.ByThread, "processor": ingest.ByProcessor}

// Check refuses flags that contradict each other, before anything is read.
func (f *Filter) Check() error {
	_, err := f.queries()
	if err == nil && f.DuringAll && len(f.During)+len(f.Trace) == 0 {
		err = errDuringAll
	}
	if err = errors.Join(f.Period.check(), err); err != nil {
		return console.Exit(console.Usage, err)
	}
	return nil
}

// Whole reports whether all of a recording is shown, with nothing that tells processes apart.
func (f *Filter) Whole() bool {
	return !f.Given() && len(f.Process)+len(f.Track)+len(f.Category)+len(f.During)+len(f.Trace)+len(f.TagRoot) == 0 && !f.Headers && f.Every <= 1
}

func (f *Filter) queries() (all []filter.Query, err error) {
	for _, id := range f.Trace {
		q, err := filter.Trace(id)
		if err != nil {
			return nil, fmt.Errorf("--trace %w", err)
		}
		all = append(all, q)
	}
	for _, text := range f.During {
		q, err := filter.ParseQuery(text)
		if err != nil {
			return nil, fmt.Errorf("--during %w", err)
		}
		if len(q.Percentiles()) > 0 {
			return nil, fmt.Errorf("--during %s: %w", text, errPercentile)
		}
		all = append(all, q)
	}
	return all, nil
}

// events returns the events that the flags select.
//
// The time comes first, so that nothing outside of it is read. Then --during sees all
// markers of that time, also those that the other flags leave out.
func (f *Filter) events(found *ingest.Found) (stream.Source, error) {
	from, to, err := f.Span(found)
	if err != nil {
		return nil, console.Exit(console.Usage, err)
	}
	selection := ingest.Selection{Processes: f.Process, Tracks: f.Track, Grouping: groupings[f.Tracks], States: f.States, Headers: f.Headers, Every: f.Every}
	if f.Given() {
		selection.From, selection.To = from, to
	}
	src, err := found.Select(selection)
	if err != nil {
		return nil, err
	}
	if f.Given() {
		src = filter.ByTime(src, from, to)
	}
	return f.filter(src)
}

// Span is the selected time, on the clock of the recordings.
func (f *Filter) Span(found *ingest.Found) (from, to stream.Time, err error) {
	return f.Period.Span(found, f.Process)
}

// filter applies the flags for single events.
func (f *Filter) filter(src stream.Source) (stream.Source, error) {
	queries, err := f.queries()
	if err != nil {
		return nil, err
	}
	if len(queries) > 0 {
		src = filter.During(src, queries, filter.DuringOptions{All: f.DuringAll, SpillDir: f.spill, Redact: f.redact})
	}
	if len(f.Track) > 0 {
		src = filter.ByTrack(src, f.Track, f.redact)
	}
	if len(f.Category) > 0 {
		src = filter.ByCategory(src, f.Category)
	}
	return src, nil
}

// tag puts the tags below stacks. It comes last, so that nothing is shown there that is
// hidden elsewhere.
func (f *Filter) tag(src stream.Source) stream.Source {
	if len(f.TagRoot) == 0 {
		return src
	}
	return filter.TagRoot(src, f.TagRoot...)
}
