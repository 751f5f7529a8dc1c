package rawformat

// Limits of what a reader accepts, each checked before anything is allocated.
const (
	// PageSize is the unit of damage: one CRC, one sync block.
	PageSize = 4096

	// HeaderSize is the size of a chunk's header, HeadSize that of header and page table.
	// The payload begins at a page boundary of the file, so that a copy that is torn
	// between pages of the file is torn between pages of the payload.
	HeaderSize = 128
	HeadSize   = PageSize

	// TrailerSize is the size of the trailer that ends a chunk file.
	TrailerSize = 16

	// ChunkAlign divides every chunk file's size: the largest page size of the
	// machines that we map files on (arm64).
	ChunkAlign = 64 << 10

	// MaxChunkFile is the largest chunk file: its page table fits the head
	// page, and a larger chunk only makes discards coarser.
	MaxChunkFile = 1 << 20

	// MaxCapacity is the largest payload, also of a chunk in memory.
	MaxCapacity = 1 << 30

	// MaxBlock is the largest block length: a string, its event, and room.
	MaxBlock = 1 << 20

	// MaxText is the longest string of any field.
	MaxText = 1 << 20

	// MaxStack is the largest number of pcs or frames of a stack. Go stops at
	// 1 GiB of stack; profilers show a few hundred frames.
	MaxStack = 1024

	// SampleUnit is the unit of times of samples, in ticks: some 100 ns. The signal that
	// takes a sample takes ten times as long.
	SampleUnit = 256

	// CPUUnit is the unit of CPU times of samples beside the period, in ns. Timers on CPU
	// clocks expire at ticks of the kernel, up to 4 ms late: that is one byte.
	CPUUnit = 1 << 16

	// MaxArgs is the largest number of an event's fields: with two bits for each and the
	// 1 on top, the shape fits into 64 bits.
	MaxArgs = 16

	// Slack is how many bytes after a block or a record callers of package chunks may
	// load, so that they can read integers eight bytes at a time without checking for
	// the end each time. These bytes mean nothing.
	Slack = 128

	// MaxRecordFile bounds a dictionary and MaxMetaFile a meta or exit file: a
	// reader holds them in memory. A dictionary is a small share of its ring.
	MaxRecordFile = 256 << 20
	MaxMetaFile   = 1 << 20

	// MaxTraceFile bounds a window of Go's execution trace: some seconds of a busy program.
	// A tool that packs one holds it in memory.
	MaxTraceFile = 16 << 20
)

// MaxLabels is how many labels a set may have. Programs have a few; a longer chain is cut
// off.
const MaxLabels = 64
