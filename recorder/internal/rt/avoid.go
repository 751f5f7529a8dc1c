package rt

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
)

// Tricks are what the recorder does beyond what Go promises, as far as it can be switched off while the program runs.
type Tricks uint32

const (
	Counter    Tricks = 1 << iota // the processor's counter as a clock
	Goroutines                    // the goroutine's number and beginning, from its g
	Writers                       // a writer for each processor
	Frames                        // stacks by frame pointers
	Faults                        // faults in mapped files are caught by a signal handler
	Signals                       // CPU samples by signals
	Rounds                        // goroutines are looked at without stopping the world
	Backlog                       // heap samples that the runtime has not published
)

var trickNames = []string{"counter", "goroutines", "writers", "stacks", "faults", "signals", "rounds", "backlog"}

// TrickNames are the names that ParseTricks knows.
func TrickNames() string { return strings.Join(trickNames, ", ") }

// ParseTricks reads a list of names. 1 or on is all of them, 0 or off none.
func ParseTricks(list string) (t Tricks, err error) {
	switch list {
	case "1", "on":
		return 1<<len(trickNames) - 1, nil
	case "0", "off":
		return 0, nil
	}
	for name := range strings.SplitSeq(list, ",") {
		bit := Tricks(0)
		for i, known := range trickNames {
			if strings.TrimSpace(name) == known {
				bit = 1 << i
			}
		}
		if bit == 0 {
			return 0, fmt.Errorf("%q: want 1, or some of %s", name, TrickNames())
		}
		t |= bit
	}
	return t, nil
}

var avoided atomic.Uint32

// Avoid has these tricks, and no others, avoided by what is opened from now on.
func Avoid(t Tricks) { avoided.Store(uint32(t)) }

var errAvoided = errors.New("avoided, as GPROF_PORTABLE says")

// Err says why one of these tricks may not be used; nil: they may be tried.
func (t Tricks) Err() error {
	if Tricks(avoided.Load())&t != 0 {
		return errAvoided
	}
	return nil
}

// Runtime describes, for people, the version of Go, and whether tricks were verified with it.
func Runtime() string {
	if !verified {
		return runtime.Version() + " is newer than what this recorder was verified with, so it uses only what Go promises"
	}
	return runtime.Version()
}
