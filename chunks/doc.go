// Package chunks is what lies in the directory of one recorded process, an
// instance directory:
//
//	lock         locked while the process lives             Lock, Alive
//	meta         who the process is                         WriteRecords
//	exit         how it ended                               WriteRecords
//	chunk-NNNNN  the ring: blocks, in mapped files          Ring
//	dict-NNN     what the ids in the blocks mean,
//	             one file for each generation of ids        RecordFile
//
// A name that ends in .new is that of a file which is being written. What the
// bytes mean is said in package rawformat.
//
// # Chunks
//
// A [Chunk] has one writer at a time and goes through these states:
//
//	Created -> InUse -> (Full) -> Done -> Recycled -> InUse -> ...
//
// A chunk file skips the last: it is put to use again at once. The state in
// the header informs; what a reader goes by is the epoch, which is 0 while the
// chunk is being opened (rawformat says in which order), and the commit word.
//
// # Ring
//
// A [Ring] hands out spare chunks, then those that were released, the oldest
// first: they are discarded. Get and Release are for writers' hot paths.
// Maintain, for one housekeeper, seals pages, makes spare chunks ready and gives
// files back, so that chunk files and what was charged stay under the limit.
//
// # Record files
//
// A [RecordFile] is a dictionary that grows by whole records, or not at all
// when the disk is full. WriteRecords writes a file beside and renames it.
//
// # Buffer
//
// A [Buffer] is the same in heap memory, with the semantics of the Gecko
// Profiler's chunked buffer: blocks straddle chunks, which come from a
// [Manager]: [Single] has one chunk, [LocalLimit] discards the oldest released
// ones, the first to be done first, and keeps two of them for use again.
// Unlike Gecko's, its range end counts the unused end of a chunk that had no
// follower, and reading goes on behind it.
//
// # Reading
//
// [OpenProcess] reads headers, dictionaries, meta and exit of an instance
// directory, alive or dead. A [Reader] then goes over the blocks that are
// intact, in order of ranges. What is not intact is a [Problem], not an error.
package chunks
