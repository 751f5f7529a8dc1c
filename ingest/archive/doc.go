// Package archive shows a tar or a zip as a file system, nothing of which was
// ever unpacked under a name of its own.
//
// Members lie where they lie already: in the archive itself, if it is a file
// that is not compressed there, else in a [Spool], one file without a name that
// all archives of a run share. No file stays open in between: opening a member
// opens the archive. Every file of an [FS] is an [io.ReaderAt].
//
// An archive is not to be trusted. What its members are called never becomes a
// name on disk. Links, devices and names that lead out of it are refused, so is
// what is larger than its reader wants, and what goes on being unpacked behind
// all measure ([ErrBomb]). What was refused is listed ([FS.Refused]); what is
// intact is there all the same, also where the archive is cut short or damaged
// in its middle.
package archive

import "errors"

// Limits, each checked before anything is allocated or unpacked.
const (
	// MaxMembers bounds what an archive is asked for, wanted or not: a
	// thousand processes of a thousand files each.
	MaxMembers = 1 << 20

	// MaxName and MaxDepth bound a member's name and its directories.
	MaxName  = 4096
	MaxDepth = 32

	// MaxDirectory bounds the bytes of a zip's directory: its entries become
	// some ten times as large in memory.
	MaxDirectory = 32 << 20

	// FreeBytes may be unpacked from any archive. Beyond them, MaxRatio times
	// what the archive has: recordings shrink to a third, and texts to a tenth or
	// a thirtieth. Zeros hardly count: most of a ring may be unused.
	FreeBytes = 64 << 20
	MaxRatio  = 100

	// MaxSearch is how far a header is looked for behind a damaged one.
	MaxSearch = 1 << 30

	// MaxWindow is the memory that a zstd stream may ask for. The highest
	// levels of the zstd command use it.
	MaxWindow = 128 << 20

	// maxRefused bounds how many refused members are named.
	maxRefused = 1000

	// maxTail is how many zero bytes behind the end of a tar are looked
	// through for another one: more than its padding.
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

// Refusal is a member that is not there, or not whole.
type Refusal struct {
	Name string // as in the archive; not to be trusted
	Err  error  // one of the above
}
