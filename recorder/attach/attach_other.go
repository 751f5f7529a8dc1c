//go:build !linux

package attach

import (
	"errors"
	"fmt"
	"runtime"
)

// Sampler samples processes, where the system has perf_event.
type Sampler struct{}

// Start fails: only Linux has perf_event.
func Start([]int, Options) (*Sampler, error) {
	return nil, fmt.Errorf("sampling from outside needs Linux' perf_event, not %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

// Done is closed when all processes have ended.
func (*Sampler) Done() <-chan struct{} { return nil }

// Notes are what can't be had though sampling goes on.
func (*Sampler) Notes() []*Refusal { return nil }

// Stop does nothing.
func (*Sampler) Stop() (Summary, error) { return Summary{}, nil }
