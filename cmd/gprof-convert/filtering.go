package main

import (
	"gprof/ingest"
	"gprof/stream"
)

// filtering is the flags that say which part of a recording is wanted. All
// commands that read events have them.
type filtering struct {
	period
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
	src := found.Source()
	if f.given() {
		src = stream.Slice(src, from, to)
	}
	return src, nil
}
