//go:build linux && !gprof_portable && !go1.28

package rt

import (
	"bytes"
	"errors"
	"io"
	"os"
)

// kernelCounter is the clock source that reads the time-stamp counter.
const kernelCounter = "tsc"

// counterInvariant is nil if the counter ticks at one rate, whatever the
// processor's frequency, and while it sleeps.
func counterInvariant() error {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return err
	}
	defer f.Close()
	first := make([]byte, 8<<10) // the kernel asks each processor for its frequency, so read no more than the first
	n, err := io.ReadFull(f, first)
	if n == 0 {
		return err
	}
	for _, flag := range []string{" constant_tsc ", " nonstop_tsc "} {
		if !bytes.Contains(first[:n], []byte(flag)) {
			return errors.New("the processor does not promise" + flag)
		}
	}
	return nil
}
