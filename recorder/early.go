package recorder

import (
	"os"

	"gprof/recorder/internal/shard"
)

// StartEarly is for package early: markers are kept in memory from now on, 256 KiB
// of them, until Start takes them over. It does nothing where a recorder has been
// started, or GPROF=off says that none will be.
func StartEarly() {
	if on, err := ParseSwitch(os.Getenv(EnvSwitch)); err == nil && !on && os.Getenv(EnvSwitch) != "" {
		return
	}
	if !claimed.CompareAndSwap(false, true) {
		return
	}
	defer claimed.Store(false)
	shard.OpenEarly(newInstance())
}
