// Package pack is the packed session archive: one file, .gprof, that holds the
// recordings of processes, each chunk compressed by itself. This comment is its
// specification. All integers are little-endian.
//
// # Archive
//
// An archive is a sequence of sections and nothing else:
//
//	process A | meta A | exit A | dictionaries A | stack rings A | traces A | process B | … | chunks A | chunks B | … | directory | end
//
// All that is needed to choose chunks comes first; a writer needs no seek, and
// neither does a reader that takes everything. Processes stand in order of their
// instance, chunks in order of their range start, so that the same recording at
// rest makes the same bytes, wherever and whenever it is packed.
//
// # Section
//
//	 0  magic "gprP"   4
//	 4  version        2
//	 6  type           1   1 process, 2 meta, 3 exit, 4 dictionary, 5 chunk, 6 end, 7 stack ring, 8 execution trace, 9 directory
//	 7  encoding       1   0 raw, 1 zstd, 2 columns
//	 8  instance       8   of the process that it belongs to; of an end: the offset of the directory, 0 without one
//	16  number         4   the file is chunk-NNNNN, dict-NNN, stacks-N or trace-NNN.out; of an end: the sections before it
//	20  raw size       4   of the file
//	24  stored size    4   of what follows the header
//	28  CRC-32C of the raw bytes     4
//	32  CRC-32C of the stored bytes  4
//	36  CRC-32C of the above         4
//	40  stored bytes
//
// The raw bytes of a meta, exit, dictionary, stack ring, trace and chunk section are those
// of the file, bit for bit; see package rawformat. A reader passes over sections of a
// version, type or encoding that it does not know.
//
// # Process section
//
// It lists the chunk files of a process, so that a reader knows times and ranges
// of all chunks before it has read one:
//
//	flags 4 | number of files 4 | 0 8 | for each: number 4 | file size 4 | header 128
//
// Flag 1: the process was recording when it was packed. The header is the file's
// first 128 bytes. One whose state is [rawformat.StateLeftOut] is all that a
// slice left of its chunk; it has no chunk section. Slicing drops chunks, or pages of
// them: what is left of such a chunk are several of the same epoch, kept and left out
// in turn, see [chunks.Cutter]. Those of slices that were merged may overlap. Payloads stay what the recorder wrote, and so does what
// headers and exit say of the process' range start.
//
// # Directory
//
// It holds the headers of all sections before it, in order and without their magic, which a
// reader searches for. So a reader far away finds all chunks by three requests. It may be missing; what it says is what the headers in
// their places say.
//
// # Columns
//
// The encoding columns holds the same bytes with like beside like: a column for
// each field of each kind of block, so that what compresses well is not mixed
// with what does not. It gives the bytes back exactly; a writer tries, and falls
// back to zstd where it does not.
//
//	segments: raw size U | stored size U | columns, for each:
//	column:   id U | form 1 | number of values U | base U, of the forms 0 to 2 | planes
//	plane:    0, a byte that all are | 1, bytes | 2, size U, zstd | 3, size U, finite state entropy coding
//
// A chunk is one segment; of a dictionary each has some 512 KiB. A column's id is
// kind times 256 plus slot: the number of a field, 16 + 4 times the number of an
// argument + its wire type, 80 for lanes, 81 for the kind of the block that
// follows one of this kind, 128 + another slot for the bytes of texts. Columns of
// kind 0 belong to the segment: 0 by how much lengths are longer than they need
// be, 1 and 2 sizes and bodies of blocks that are stored as they are, 3 header and
// trailer, 4 bytes that are no blocks, 5 whether a record's CRC is right (0) or
// is in column 6, and 81 which kind comes
// first, and behind a block stored as it is. There the kind 0 is a block
// stored as it is, 255 a sync block that states its own place.
//
// A lane is what the blocks of one thread and goroutine (samples), one goroutine
// (contexts), one event or one counter have in common; other kinds have one lane
// each. The column of lanes says which it is: 1 the one used last, 2 the one
// before …, 0 a new one, whose fields follow. 128 are remembered. A lane's values
// are stored in the form that is the smallest:
//
//	0  the value; a time as the difference to the time before in the chunk
//	1  0 if it is the lane's last one, else the value plus 1
//	2  the difference to the lane's last one, zig-zag
//	3  8 bytes, of floats and fixed integers
//	4  bytes, of texts and whatever is stored as it is
//
// The length of a text is 0 if the text is the lane's last one, else its length
// plus 1, in form 0. The time of a sync block is the difference to the time
// before, too.
//
// Of the forms 0 to 2 the base is subtracted, but from 0. The rest is stored as
// planes: how many bytes each value takes, all their lowest bytes, the next
// bytes of all that have one, and so on. Form 3 has 8 planes, form 4 one.
//
// # A live process
//
// It is shown as it was when the headers of its chunks were read. A chunk is put
// back to that moment: its header is that of the index, and what was committed
// or sealed since is zero. A chunk that was used again before it could be copied
// is packed as the head that a ring leaves of a discarded one, of [rawformat.HeadSize]
// bytes with the epoch 0. A copy counts only if header and trailer, read first
// and last, both belong to the use of the file that the index tells of.
//
// # Damage
//
// Damage costs the section in which it is. Behind a header that is damaged a
// reader searches for the next one that is not. Without its process section a
// process' chunks can still be read. An archive that is cut anywhere gives what
// lies before the cut, because sections say by themselves what they are.
//
// # Limits
//
// Raw sizes are bounded by [rawformat.MaxChunkFile], [rawformat.MaxRecordFile]
// [rawformat.MaxTraceFile] and [rawformat.MaxMetaFile], the number of chunks that all indexes list, and
// that of sections, by 2^20 and 2^21. Each is checked before memory is taken.
//
// # Version history
//
//	0  2026-11  under construction
package pack
