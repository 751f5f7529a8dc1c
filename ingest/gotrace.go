package ingest

import (
	"gprof/ingest/gotrace"
	"gprof/stream"
)

// goTraceFormat names Go's execution traces.
const goTraceFormat = "Go execution trace"

// goTrace is an execution trace by itself: of a process that may have no
// recording.
type goTrace struct {
	*gotrace.File
	tracks gotrace.Grouping
}

func openGoTrace(open opener) (*goTrace, error) {
	f, err := gotrace.Open(open)
	if f == nil {
		return nil, err
	}
	return &goTrace{File: f}, err
}

// traceTracks is which tracks of a trace belong to those of recordings.
var traceTracks = map[Grouping]gotrace.Grouping{ByThread: gotrace.ByThread, ByProcessor: gotrace.ByProcessor}

func (g *goTrace) group(by Grouping) { g.tracks = traceTracks[by] }

// Source implements foreignFile.
func (g *goTrace) Source(t *stream.Tables, ids []stream.ProcessID, shift stream.Time) stream.Source {
	return g.File.Source(t, ids[0], gotrace.Options{Tracks: g.tracks, Shift: shift})
}
