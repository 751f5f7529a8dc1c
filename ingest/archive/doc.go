// Package archive shows a tar or zip as a file system, without unpacking anything under a name of
// its own.
//
// Members stay where they are if possible: in the archive itself, if it is an uncompressed file,
// else in a [Spool], one unnamed file for all archives of a run. No file stays open in between:
// opening a member opens the archive. Every file of an [FS] is an [io.ReaderAt].
//
// An archive is not trusted. Names of members never become names on disk. Links, devices and names
// that lead out of it are refused, as is what is larger than its reader wants, or unpacks to too
// much ([ErrBomb]). Refusals are listed ([FS.Refused]); whatever is intact is there, even if the
// archive is cut short or damaged in the middle.
package archive

import "errors"

// Limits, each checked before allocating or unpacking.
const (
	// MaxMembers bounds the members, wanted or not: a thousand processes of a thousand files.
	MaxMembers = 1 << 20

	// MaxName and MaxDepth bound a member's name and its directories.
	MaxName  = 4096
	MaxDepth = 32

	// MaxDirectory bounds a zip's directory in bytes: it takes ten times as much memory.
	MaxDirectory = 32 << 20

	// FreeBytes may be unpacked from any archive; beyond that MaxRatio times its size: recordings
	// shrink to a third, texts to a tenth or thirtieth. Zeros hardly count, because most of a ring
	// may be unused.
	FreeBytes = 64 << 20
	MaxRatio  = 100

	// MaxSearch is how far the next header is searched after a damaged one.
	MaxSearch = 1 << 30

	// MaxWindow bounds the memory of a zstd stream, as the zstd command's highest levels use.
	MaxWindow = 128 << 20

	// maxRefused bounds the listed refusals.
	maxRefused = 1000

	// maxTail is how many zero bytes after a tar are searched for another one: more than its
	// padding.
	maxTail = 1 << 20
)

// Why a member is refused, or an archive not read to its end.
var (
	ErrEscape  = errors.New("its name leads out of the archive")
	ErrName    = errors.New("its name is too long or too deep")
	ErrLink    = errors.New("is a link")
	ErrSpecial = errors.New("is neither a file nor a directory")
	ErrTooBig  = errors.New("is larger than any such file of a recording")
	ErrTwice   = errors.New("is there twice; the later one counts")
	ErrClash   = errors.New("is a file and a directory")
	ErrOverlap = errors.New("shares its bytes with another member")
	ErrLies    = errors.New("is not as large as it says")
	ErrMethod  = errors.New("is encrypted, or compressed in an unknown way; unpack it with what packed it")
	ErrMany    = errors.New("has too many members")
	ErrBomb    = errors.New("unpacks to too much for its size; if you trust it, unpack it first")
	ErrTorn    = errors.New("is cut short")
	ErrDamaged = errors.New("is damaged")
	ErrSpool   = errors.New("cannot be unpacked to the temporary file")
)

// Refusal is a member that is missing, or incomplete.
type Refusal struct {
	Name string // as in the archive, untrusted
	Err  error  // one of the above
}
