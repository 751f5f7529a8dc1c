package ingest

import (
	"io/fs"
	"testing"

	"gprof/ingest/archive"
	"gprof/stream"
)

// Names of an archive's members cannot control a terminal, and the ledger names
// an input without its directory.
func TestWarning(t *testing.T) {
	w := Warning{path: "dumps/a.tar/\x1b[2J", label: "a.tar/\x1b[2J", err: archive.ErrLink}
	if got, want := w.Error(), `"dumps/a.tar/\x1b[2J": is a link`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := w.line(), (stream.Line{Reason: stream.ReasonRefused, What: "members", Where: `"a.tar/\x1b[2J": is a link`, Count: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	gone := newWarning("/data/b", "b", &fs.PathError{Op: "open", Path: "/data/b", Err: fs.ErrPermission})
	if got, want := gone.Error(), "/data/b: permission denied"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := gone.line(), (stream.Line{Reason: stream.ReasonUnreadable, What: "inputs", Where: "b", Count: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
