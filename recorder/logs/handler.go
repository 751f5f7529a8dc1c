// Package logs records what a program logs by log/slog: each log record is a marker "log" on the
// row of the goroutine that made it, with its level, its message and its attributes, and is
// then handled as before.
//
//	slog.SetDefault(slog.New(logs.NewHandler(slog.NewJSONHandler(os.Stderr, nil), nil)))
//
// The levels are categories of their own. Attributes are in fields by what they may reveal, so
// that redaction can keep those that may leave the machine: see [Options.Kinds] and [Plain].
// Messages, and attributes of which nobody said it, are redacted as secrets are. A text longer
// than 1 KiB is cut.
package logs

import (
	"context"
	"log/slog"

	"gprof/recorder"
	"gprof/recorder/internal/shard"
)

// Options say what is recorded.
type Options struct {
	// Level is the least level that is recorded, whatever the other handler wants.
	// Default: that of [slog.LevelInfo].
	Level slog.Leveler
	// Kinds says what attributes may reveal, by their keys. Redaction treats others as secrets.
	Kinds map[string]Kind
}

// Handler records log records, and passes them on. It may be used by any number of
// goroutines.
type Handler struct {
	next    slog.Handler
	options Options
	attrs   attrs  // of WithAttrs
	group   string // before keys, "" or with a dot at its end
}

// NewHandler returns a handler that records, and then has next handle the record; next may be
// nil, as may be the options. The handler that package slog begins with can't be next: it
// writes by package log, which would write to this one.
func NewHandler(next slog.Handler, o *Options) *Handler {
	h := &Handler{next: next}
	if o != nil {
		h.options = *o
	}
	if h.options.Level == nil {
		h.options.Level = slog.LevelInfo
	}
	if h.next == nil {
		h.next = slog.DiscardHandler
	}
	return h
}

// Enabled reports whether a record of that level is recorded, or wanted by the other handler.
func (h *Handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.records(level) || h.next.Enabled(ctx, level)
}

func (h *Handler) records(level slog.Level) bool { return level >= h.options.Level.Level() }

// Handle records r. The error is that of the other handler.
func (h *Handler) Handle(ctx context.Context, r slog.Record) error {
	if recording := shard.Current.Load(); recording != nil && h.records(r.Level) {
		recording.NoteLog(classOf(r.Level))
		a := h.attrs
		r.Attrs(func(attr slog.Attr) bool {
			a.add(h.group, attr, h.options.Kinds)
			return true
		})
		events[classOf(r.Level)].Mark(recorder.V(r.Level.String()), recorder.V(r.Message), recorder.V(a.of[Unsaid]),
			recorder.V(a.of[User]), recorder.V(a.of[Path]), recorder.V(a.of[URL]), recorder.V(a.of[Secret]), recorder.V(a.of[Plain]))
	}
	if !h.next.Enabled(ctx, r.Level) {
		return nil
	}
	return h.next.Handle(ctx, r)
}

// WithAttrs returns a handler whose records have these attributes, too.
func (h *Handler) WithAttrs(list []slog.Attr) slog.Handler {
	with := *h
	with.next = h.next.WithAttrs(list)
	for _, attr := range list {
		with.attrs.add(h.group, attr, h.options.Kinds)
	}
	return &with
}

// WithGroup returns a handler that puts a name before the keys of attributes.
func (h *Handler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	with := *h
	with.next, with.group = h.next.WithGroup(name), h.group+name+"."
	return &with
}
