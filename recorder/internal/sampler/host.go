// Package sampler takes CPU samples by signals of its own. For that it keeps the tracks and
// labels that goroutines are in.
package sampler

import (
	"gprof/chunks/folder"
	"gprof/chunks/ring"
	"gprof/recorder/internal/dict"
	"gprof/recorder/internal/shard"
)

// noneEarly is what meta says of a start without samples from before it.
const noneEarly = "no CPU samples"

// Host is the recording that a sampler works for.
type Host struct {
	Recording *shard.Recording
	Ring      *ring.Ring // rings of threads count against its limit; nil before Start
	Files     folder.Folder
	Dict      *dict.Dictionary
	Limit     int64                        // bytes of the recording
	Maintain  func()                       // prepares chunks, because samples may need more than there are
	Complain  func(what string, err error) // reports an error of the disk
	Ended     func(why string)             // reports that no more samples are taken
}

func (h *Host) charge(bytes int64) {
	if h.Ring != nil {
		h.Ring.Charge(bytes)
	}
}
