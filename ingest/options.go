package ingest

import (
	"io"
	"time"
)

// DefaultStall is the tick of the rule by which inputs are given up that make
// no progress. It is long enough for a remote shell to log in and for a pod to
// be found before the first byte comes.
const DefaultStall = 30 * time.Second

// Options say how inputs are read. The zero value is ready to use.
type Options struct {
	// Stdin is what the input "-" reads; nil: there is none.
	Stdin io.Reader
	// Stall is how long nothing at all may come of any input before those that
	// are waited for are given up. 0: [DefaultStall]; negative: wait for ever.
	Stall time.Duration
	// TempDir is where inputs that cannot be read in parts are unpacked, in a
	// file without a name; "": a directory for temporary files on a disk.
	TempDir string
	// Jobs is how many goroutines decode at once; 0 is 1. What comes out is the
	// same for any number.
	Jobs int
	// Symbols are programs, and folders of them, that name functions which the
	// recording itself does not name.
	Symbols []string
	// Formats are kinds of files that join those which this package reads. They are
	// asked first whether a file is theirs.
	Formats []Format
	// KeepExpired keeps what has expired: exit profiles, and what ended long
	// ago. See expire.go.
	KeepExpired bool
	// ExpireCrashed lets processes expire that did not end cleanly, too.
	ExpireCrashed bool
	// ExpireAfter expires processes that ended so long before the latest event
	// of the run, though their parent may be idle and hold all. 0: none.
	ExpireAfter time.Duration
}
