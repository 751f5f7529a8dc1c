//go:build !linux || !(amd64 || arm64) || gprof_portable || go1.28

package sampler

import (
	"errors"
	"runtime"
	"time"

	"gprof/recorder/internal/registry"
	"gprof/recorder/internal/shard"
)

// Sampler takes no samples on this system.
type Sampler struct{}

var errNone = errors.New("not built for " + runtime.GOOS + "/" + runtime.GOARCH)

// Open says why no samples are taken.
func (*Sampler) Open(Host, int, int) error {
	return errNone
}

func (*Sampler) Describe(int) string         { return "" }
func (*Sampler) Round()                      {}
func (*Sampler) Attend()                     {}
func (*Sampler) Rest(bool)                   {}
func (*Sampler) Taken() int                  { return 0 }
func (*Sampler) Period() int64               { return 0 }
func (*Sampler) Close()                      {}
func (*Sampler) LongestSleep() time.Duration { return time.Hour }
func (*Sampler) LeaveCounter()               {}
func (*Sampler) DropCut() int                { return 0 }
func (*Sampler) DropEarly() int              { return 0 }
func (*Sampler) WriteEarly(bool) int         { return 0 }
func (*Sampler) HasEarly() bool              { return false }
func (*Sampler) DescribeEarly() string       { return noneEarly }

// HasEarly reports whether samples are taken before Start.
func HasEarly() bool { return false }

// OpenEarly says why no samples are taken.
func OpenEarly(*shard.Recording, int, int) error { return errNone }

// Tracks and labels are not noted where no samples are taken.
func NoteLabels(*registry.Track, uint64) {}
func GoroutineID() uint64                { return 0 }
func EnterTrack(*registry.Track) uint64  { return 0 }
func LeaveTrack(*registry.Track, uint64) {}

// Scope is a label that has begun.
type Scope struct{}

// Begin begins nothing.
func Begin(*shard.Recording, uint32) Scope { return Scope{} }

func (Scope) End() {}
