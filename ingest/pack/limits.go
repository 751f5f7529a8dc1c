package pack

import "gprof/rawformat"

// Limits of what a reader accepts, each checked before anything is allocated.
const (
	// maxProblems is how many problems of an archive are listed.
	maxProblems = 1000

	// segmentSize is about how much of a dictionary is taken apart at once, and
	// maxSegment is more than any segment has: what is behind the last record,
	// which may be large, or a chunk file.
	segmentSize = 512 << 10
	maxSegment  = segmentSize + rawformat.MaxBlock + 1<<10
)
