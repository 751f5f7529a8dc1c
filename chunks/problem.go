package chunks

import "fmt"

// ProblemClass is what kind of damage was found.
type ProblemClass uint8

const (
	// Gap is an index range that was handed out and not discarded, but that no chunk
	// holds: its file is missing.
	Gap ProblemClass = iota
	// Torn is a file, or a block at a chunk's end, that is cut short.
	Torn
	// Damaged is a page, record or header that contradicts its checksum or the
	// format.
	Damaged
	// Foreign is something of another process or of another use of the file, or
	// something that is not ours at all.
	Foreign
	// Stale is a chunk that was being reused when it was copied. Nothing that still
	// counted is lost.
	Stale
	// Unproven are bytes that were read although no checksum covers them.
	Unproven
	// Unreadable is a file that could not be read or is of a later version.
	Unreadable
	// Duplicate is a second copy of something; one was read.
	Duplicate
	// Missing is a dictionary or meta file that chunks need but that does not exist.
	Missing
	// LeftOut are chunks of which a slice of the recording holds only the headers.
	LeftOut
	numClasses
)

var classNames = [numClasses]string{"gap", "torn", "damaged", "foreign", "stale", "unproven", "unreadable", "duplicate", "missing", "left out"}

func (c ProblemClass) String() string {
	if c < numClasses {
		return classNames[c]
	}
	return fmt.Sprintf("class %d", uint8(c))
}

// Problem is damage that was found; it is data, not an error.
type Problem struct {
	Class  ProblemClass
	Where  string // "chunk-00003 page 7", "dict-001 offset 812", "index 1 to 61425"
	What   string // what is wrong, lower case
	Blocks int64  // how many blocks or records are affected; -1: unknown
	Bytes  int64  // how many bytes are affected
}

func (p Problem) String() string {
	s := fmt.Sprintf("%s: %v: %s", p.Where, p.Class, p.What)
	if p.Blocks > 0 {
		s += fmt.Sprintf(", %d blocks", p.Blocks)
	}
	return fmt.Sprintf("%s, %d bytes", s, p.Bytes)
}
