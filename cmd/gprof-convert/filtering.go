package main

import (
	"gprof/ingest"
	"gprof/stream"
)

// filtering is the flags that say which part of a recording is wanted. All
// commands that read events have them.
type filtering struct {
	period
	Process  stream.Patterns `sep:"none" placeholder:"P" help:"Only the processes with this instance, pid, name or service. * and ? stand for characters. May be repeated."`
	Track    stream.Patterns `sep:"none" placeholder:"NAME" help:"Only the tracks that are called so, and what belongs to no track, such as counters. * and ? stand for characters. May be repeated."`
	Category stream.Patterns `sep:"none" placeholder:"NAME" help:"Only samples in functions, and markers, of this category, and what has none. * and ? stand for characters. May be repeated."`
}

// check refuses flags that cannot be, before anything is read.
func (f *filtering) check() error {
	if err := f.period.check(); err != nil {
		return &exitError{exitUsage, err}
	}
	return nil
}

// source is the events of what was found that the flags want. It may be called
// once for what was found.
func (f *filtering) source(found *ingest.Found) (stream.Source, error) {
	from, to, err := f.span(found)
	if err != nil {
		return nil, &exitError{exitUsage, err}
	}
	selection := ingest.Selection{Processes: f.Process}
	if f.given() {
		selection.From, selection.To = from, to
	}
	src, err := found.Select(selection)
	if err != nil {
		return nil, err
	}
	if f.given() {
		src = stream.Slice(src, from, to)
	}
	if len(f.Track) > 0 {
		src = stream.Tracks(src, f.Track)
	}
	if len(f.Category) > 0 {
		src = stream.Categories(src, f.Category)
	}
	return src, nil
}
