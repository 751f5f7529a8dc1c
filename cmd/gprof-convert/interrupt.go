package main

import (
	"context"
	"io"

	"gprof/stream"
)

// interruptibleSource fails once the user has interrupted, interruptibleWriter
// does so too: one of them is busy at any time of a conversion.
type interruptibleSource struct {
	ctx context.Context
	src stream.Source
}

func (i *interruptibleSource) Next(b *stream.Batch) error {
	if err := i.ctx.Err(); err != nil {
		return err
	}
	return i.src.Next(b)
}

func (i *interruptibleSource) Tables() *stream.Tables { return i.src.Tables() }

func (i *interruptibleSource) Progress() (done, total int64) {
	if p, ok := i.src.(stream.Progress); ok {
		return p.Progress()
	}
	return 0, 0
}

type interruptibleWriter struct {
	ctx context.Context
	w   io.Writer
}

func (i *interruptibleWriter) Write(p []byte) (int, error) {
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	return i.w.Write(p)
}
