package pack

import "gprof/rawformat"

// Limits of what a reader accepts, each checked before anything is allocated.
const (
	// maxFiles is how many chunk files the indexes of an archive may list, of
	// all processes: 64 GiB in chunks of 64 KiB. A reader holds the index in
	// memory.
	maxFiles = 1 << 20

	// maxSections bounds an archive's sections, each of which takes some bytes
	// of a reader's memory.
	maxSections = 2 * maxFiles

	// maxIndex is the largest process section: one index of that many files.
	maxIndex = indexHead + maxFiles*entrySize

	// maxProblems is how many problems of an archive are listed.
	maxProblems = 1000

	// segmentSize is about how much of a dictionary is taken apart at once, and
	// maxSegment is more than any segment has: what is behind the last record,
	// which may be large, or a chunk file.
	segmentSize = 512 << 10
	maxSegment  = segmentSize + rawformat.MaxBlock + 1<<10

	// maxOverhead is by how much stored bytes may exceed raw ones.
	maxOverhead = 1 << 10
)
