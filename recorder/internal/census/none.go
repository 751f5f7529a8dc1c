//go:build !linux || !(amd64 || arm64) || gprof_portable || go1.28

package census

import (
	"errors"
	"time"

	"gprof/recorder/internal/rt"
)

// Census can't be taken here.
type Census struct{}

// Open fails.
func Open(Sink) (*Census, error) { return nil, errors.ErrUnsupported }

// Round does nothing, as all methods.
func (*Census) Round(*rt.Clock, time.Duration, int, int) {}

func (*Census) Finish() {}

func (*Census) Forget() {}

func (*Census) Still() int { return 0 }

func (*Census) Goroutines() int { return 0 }

func (*Census) Tally() Tally { return Tally{} }
