package selection

import (
	"time"

	"gprof/ingest"
)

// Expiry are the flags for leaving out processes that ended before the time that they, or
// their parents, still hold. Commands that show events have them.
type Expiry struct {
	KeepExpired   bool          `help:"Keep what has expired: child processes that ended cleanly before what their parent still holds, and tracks, pages and counters that ended before what their process holds."`
	ExpireCrashed bool          `help:"Let processes expire that were killed, crashed or failed, too."`
	ExpireAfter   time.Duration `placeholder:"TIME" help:"Leave out child processes that ended so long before the last event of all, such as 1h, even if their parent was idle since."`
}

// Set sets the flags in the options of a command.
func (e *Expiry) Set(o *ingest.Options) {
	if e != nil {
		o.KeepExpired, o.ExpireCrashed, o.ExpireAfter = e.KeepExpired, e.ExpireCrashed, e.ExpireAfter
	}
}
