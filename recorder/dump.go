package recorder

import (
	"fmt"
	"path/filepath"

	"gprof/chunks"
)

// dump copies the recording, when it is over, to where [Options.Dump] says: into
// the session of the same name there. It is whole, or not there.
func (r *Recorder) dump() error {
	if r.dumpDir == "" {
		return nil
	}
	to := filepath.Join(r.dumpDir, filepath.Base(r.session), instanceName(r.rec.Instance()))
	if err := chunks.CopySince(r.files, to, 0); err != nil {
		return fmt.Errorf("dump: %w", err)
	}
	return nil
}
