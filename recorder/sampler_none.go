//go:build !linux || !(amd64 || arm64) || gprof_portable

package recorder

import (
	"errors"
	"gprof/recorder/internal/registry"
	"runtime"
	"time"
)

// sampler takes CPU samples by signals; here it can't.
type sampler struct{}

func (*sampler) open(*keeper, int, int) error {
	return errors.New("not built for " + runtime.GOOS + "/" + runtime.GOARCH)
}

func (*sampler) describe(int) string         { return "" }
func (*sampler) round(*keeper)               {}
func (*sampler) rest(*keeper)                {}
func (*sampler) samplePeriod() int64         { return 0 }
func (*sampler) close(*keeper)               {}
func (*sampler) longestSleep() time.Duration { return round }
func (*sampler) leaveCounter(*keeper)        {}
func (*sampler) dropCut(*keeper) int         { return 0 }

func noteLabels(*registry.Track, uint64) {}
func goroutineID() uint64                { return 0 }
func enterTrack(*registry.Track) uint64  { return 0 }
func leaveTrack(*registry.Track, uint64) {}

// LabelScope is a label that has begun.
type LabelScope struct{}

// Begin begins the label on the calling goroutine, in the calling function. End
// must follow before that returns, as a rule by defer.
func (Label) Begin() LabelScope { return LabelScope{} }

// End ends the label, and those that were begun in it and have not ended. It must
// be called by the goroutine that began it; ending twice does nothing.
func (LabelScope) End() {}
