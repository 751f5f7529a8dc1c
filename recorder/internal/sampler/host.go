// Package sampler takes CPU samples by signals of its own, and knows what a sample needs to
// know of a goroutine: the track that it is on, and the labels that it is in.
package sampler

import (
	"gprof/chunks/folder"
	"gprof/chunks/ring"
	"gprof/recorder/internal/dict"
	"gprof/recorder/internal/shard"
)

// Host is what a sampler works for.
type Host struct {
	Recording *shard.Recording
	Ring      *ring.Ring // rings of threads count against its limit
	Files     folder.Folder
	Dict      *dict.Dictionary
	Limit     int64                        // bytes of the recording
	Maintain  func()                       // prepares chunks: samples may take more than there are
	Complain  func(what string, err error) // the disk has failed, say
	Ended     func(why string)             // no more samples are taken
}
