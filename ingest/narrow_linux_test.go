package ingest

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// narrow lets a pipe hold one page, so that who writes to it waits often.
func narrow(t *testing.T, pipe *os.File) {
	t.Helper()
	if _, err := unix.FcntlInt(pipe.Fd(), unix.F_SETPIPE_SZ, 4096); err != nil {
		t.Fatal(err)
	}
}
