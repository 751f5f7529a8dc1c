// Package rawformat is the wire format of a recording: what the bytes of a
// chunk, a dictionary, a meta and an exit file mean.
//
// This comment is the specification. [Kinds] is its table of blocks, which drives the
// writer, the reader, the text twin, the fixtures and the fuzz targets. All fixed-width
// integers are little-endian. The comment describes version 1; see Versions for what may
// still change.
//
// # Integers and strings
//
//	U  ULEB128 of a 64-bit value, at most 10 bytes, shortest form not required
//	S  U of the zig-zag form: 0, -1, 1, -2 … are 0, 1, 2, 3 …
//	T  S: the difference from the time before it (see Time)
//	C  S: the same in units of [SampleUnit] ticks, rounded down
//	X  8 bytes
//	B  U length, then that many bytes; text is UTF-8, invalid bytes are kept
//	P  U count, U first pc, then count-1 times S: the difference from the pc before
//	A  arguments (see Arguments)
//
// A reader refuses a ULEB128 that is cut short ([ErrTruncated]) or has bits beyond the
// 64th ([ErrOverflow]), and a length above its limit ([ErrTooBig]).
//
// # Block
//
// Everything is a sequence of blocks:
//
//	+----------+--------+- - - - - - - - -+
//	| length U | kind 1 | fields          |
//	+----------+--------+- - - - - - - - -+
//	           |<------- length -------->|
//
// The length is never 0 and never above [MaxBlock]. A reader skips an unknown kind by its
// length, and counts it. It also skips bytes after the last field that it knows, because a
// later version may append fields to a kind.
//
// # Index
//
// A process has one index space: u64 byte positions that are never reused. 0 is null, 1 is
// the first. A chunk is given a range of it when it is opened. The index of a block is that
// of the first byte of its length, so
//
//	index = range start of the chunk + offset in the payload
//
// Several chunks are open at once, one for each writer, and the oldest closed one is
// discarded first. So a hole below an older chunk is not damage. A chunk's header says
// how many chunks had been discarded when it was opened: if more ranges are missing,
// chunks are lost.
//
// # Chunk file
//
//	offset 0      header         128 bytes, see [Header]
//	       128    page table     8 bytes for each payload page, see [PageEntry]
//	       4096   payload        Header.Capacity bytes, in pages of 4,096
//	       end-16 trailer        instance X, epoch X; the last 16 bytes of the file
//
// A chunk file's size is a multiple of 64 KiB and at most [MaxChunkFile]:
//
//	Capacity = file size - 4096 - 16
//
// A chunk in memory has the same header, and a payload of any size.
//
// The epoch distinguishes one use of a file from the next: it is 0 while the file is not in
// use, and otherwise a number that the process never uses twice. A chunk is opened by these
// stores, in this order: epoch = 0, trailer epoch = 0, commit = 0, page table = 0, the
// fixed fields and their CRC, trailer, epoch = n. Each step is a release store or precedes
// one.
//
// # Commit
//
// The writer stores the bytes of one or more blocks and then, with one release
// store, the commit word:
//
//	63            32 31             0
//	+---------------+---------------+
//	| blocks        | offset        |
//	+---------------+---------------+
//
// Offset is that of the first payload byte that is not committed; blocks is the number of
// blocks that begin below it. A reader trusts no byte at or above offset.
//
// # Page and sync
//
// The first block that begins in a 4 KiB page of the payload is a sync block
// (a straddling tail or the end of a longer block may precede it). It states its own
// index, the chunk's epoch, the time and the context, so that every page can be decoded
// without the pages before it, and that a page of another chunk or of another use of
// this file is recognised:
//
//	length | kind 1 | index U | epoch U | time U | goroutine U | track U
//
// A page is sealed by its entry in the page table: a CRC-32C of the page's
// bytes (the last page: up to the commit offset), seeded with instance and
// epoch, and the offset of the first block that begins in it. Full pages may be sealed
// while the chunk is open; the rest are sealed when it is closed. A damaged page costs the
// blocks that have a byte in it, and no others.
//
// Bytes of pages that are not sealed are unproven. They are read as far as they are
// committed, and each page must begin with its sync block.
//
// # A copy made while the ring turned
//
// A tool that copies a live ring reads the header first and the trailer last. If the
// trailer has the header's instance and epoch, nothing in between was reused meanwhile,
// because reuse clears the trailer before it changes anything else. Otherwise only sealed
// pages count: a page whose CRC, which is seeded with instance and epoch, does not match
// belongs to another use of the file, or to two of them.
//
// # Parts of a chunk
//
// A slice or a snapshot leaves out pages. What it keeps is a chunk by itself: with the epoch of
// the whole, a higher range start, a lower capacity, or both. Of what it leaves out there are
// headers ([StateLeftOut]). Merging puts several parts of one chunk into one directory. Where they
// overlap they hold the same bytes: a reader takes each part from its beginning, which is that of a
// page, up to the beginning of the next one. No block but idle ones refers to one before its part.
//
// # Straddling
//
// With [FlagStraddle] a block may begin in one chunk and end in the next chunk of the same
// writer. The present recorder never writes such chunks. The next chunk's FirstBlock is
// then the length of the tail that it begins with.
// The writer stores tail bytes, then the next chunk's commit, then the first
// chunk's. A tail counts only when the first chunk's commit covers its head:
// commit offset = Capacity.
//
// # Time
//
// A time is in ticks of the chunk's clock: nanoseconds of CLOCK_MONOTONIC
// ([ClockMonotonic]) or of the time-stamp counter ([ClockTSC]). The sync block states a
// time; each T and each C is the difference from the time before it in the same chunk, be
// that of a T, a C or a sync block. It may be negative, because an event can be late. A
// placed block is a marker with times of the program's, which don't count for the next
// block: they are stated as differences from the time at which it was written.
//
// Anchors (tsc, monotonic, realtime) are in the header, one from opening and one from
// closing, and in anchor blocks. They relate the ticks to the other clocks by linear
// interpolation between the two anchors of the process around a tick; after the last anchor
// the rate stays the same. So that a reader finds them before it decodes anything, a
// process whose ticks are those of the time-stamp counter writes anchor blocks only into
// chunks with [FlagAnchors].
//
// # Context
//
// The sync and context blocks say whose work the following blocks are about, up to the next
// one: a goroutine (0: unknown) and a track (0: none). A began block says where that
// goroutine began, up to the next sync or context block. Events without a track belong to
// the root function of their stack, markers to that of their goroutine, if it is known, and
// otherwise to the process as a whole. A labels block says which labels the program has
// given that work. It holds up to the next one, or to the sync block of the next page,
// after which there are none. Label sets are built label by label, as stacks are frame by
// frame; [MaxLabels] bounds them.
//
// # Stacks
//
// A stack field is 0 for none, 1 for the stack block directly before this block in the same
// page, and n+1 for stack n of the dictionary. Pcs are in leaf-first order. A pc, and the
// offset of a frame, lies inside the instruction that was running or calling: writers
// subtract 1 from a return address.
//
// # Samples of threads
//
// A sample block contains everything about a sample. Samples that threads take while they
// are busy have most of it in common, so that is stated once:
//
//	sampling   track and period of the busy blocks after it
//	busy       time, thread, goroutine, stack: a sample of weight 1 and period ns of
//	           CPU time
//	busy-for   time, thread, goroutine, stack, excess: a busy block whose CPU time was
//	           measured, since the thread's last sample
//	idle       thread, after: a sample of weight 0 and no CPU time
//
// The CPU time of a busy-for block is period plus excess times [CPUUnit], and not below 0. What
// is rounded away is in the thread's next sample. The CPU time includes that of samples that were lost since the thread's last one.
// A reader that does not know the block counts it, and has one sample less.
//
// A sampling block holds up to the next one, or to the sync block of the next page; a
// period of 0 means the same period as before. Threads and goroutines of busy and busy-for
// blocks are differences from those of the one before. The first one in a page counts from 0,
// which means unknown.
//
// An idle block says that its thread uses no CPU time, and that since its last sample it
// has used so little that no other was due. Stack, goroutine, track and labels are those of
// the thread's last sample, of whatever kind, in the same chunk; the time is that of this
// sample plus after times [SampleUnit] ticks. A reader that does not have that sample
// drops the block, and counts it.
//
// # Time off the processor
//
// An off-cpu block says how long a thread was off the processor, when it came back or was
// no longer sampled, and for which of [OffReasons]. Such blocks are about threads that are
// sampled from outside. Track and stack are fields of the block.
//
// # Heap samples
//
// A site is a stack and the size of the objects that are allocated there. An allocation
// block says how many objects of a site were sampled: those allocated and freed since the
// previous block of the same site, and those from the start of the process until then
// (allocated-before, freed-before). Previous is the index of the previous block, 0 if there
// is none. A reader that has everything from the range start on, but not that block, counts
// the numbers before it as well, once. So that the memory in use is always known, a site is
// restated when its last block lies in the older half of the ring.
//
// Each byte is sampled with a probability of 1/rate, so an object of some size is sampled
// with p = 1-exp(-size/rate), and a number of samples stands for that number divided by p.
// With a rate of at most 1 all objects are sampled.
//
// # Arguments
//
//	shape U | values
//
// The shape gives the number of values and their wire types, so that a payload can be read
// without the definition of its event. It has two bits for each argument, the first
// argument lowest, and a 1 above the last:
//
//	0 S   1 U   2 X (IEEE 754 double)   3 B
//
// An event without arguments has the shape 1. [MaxArgs] bounds their number.
//
// # Spans
//
// A marker of an event with a field of [FormatTraceID] is a span of a distributed trace; the
// first field of [FormatSpanID] is its own id, others are those of spans it refers to, such as
// its parent. An id is 16 or 8 bytes, or its hexadecimal digits; zeros mean none. A start
// announces the interval of the same event and ids that is written when the span ends, and says
// on which goroutine it began: if there is that interval, the start is no marker of its own. A
// start without one is a span that did not end.
//
// # Dictionary file
//
//	offset 0   magic "gprD" | version u16 | 0 u16 | instance X | generation u32 | pid u32 | CRC-32C u32 of the above | 0 u32
//	       32  records
//
// A record is a block followed by 4 bytes: the CRC-32C of the block, seeded
// with the instance and the generation. Ids are dense from 1 within a generation. A
// definition is appended before its id is used. Records with a wrong CRC are skipped by
// their length; a record that is cut short ends the file.
//
// # Meta and exit file
//
// The same file header (magic "gprM", "gprX", generation 0), followed by
// records: meta records are key and value, see [MetaKeys]; an exit file holds
// one exit record. Both are written under another name and renamed. A recorder writes meta
// soon after it has begun to record, and again when it knows all the rest: a process that is killed in
// between leaves a meta without what takes long to find out, such as facts of the machine and self-tests.
//
// # Stack ring file
//
// A thread whose CPU samples are taken by signals has a ring of its own, the file
// stacks-TID of [StacksFile] bytes: a head of one page, see [StacksHeader], and
// [StacksWords] words of 8 bytes. The signal handler writes records into it. The recorder
// drains them into sample blocks of chunks, and removes the file when the thread ends, or
// at Stop. Records that it held when the process was killed count.
//
// Head and tail are positions: the number of words ever written, and ever drained. Word p
// is at p modulo [StacksWords], so a record may begin at the end of the file and end at its
// beginning:
//
//	0  63          32 31            16 15            0
//	   +-------------+---------------+---------------+
//	   | position    | overrun       | size          |   of the record, in words
//	   +-------------+---------------+---------------+
//	1  time         in ticks, see Time
//	2  goroutine    0: none, or not known
//	3  labels       an address that only the process understands; 0: none
//	4  pc           that was interrupted
//	5  top          amd64: the word at the top of the stack, arm64: the link register;
//	                0: not known
//	6  CPU time     ns since the thread's last record, plus 1, with the upper five bits of
//	                [StackCPU]; 0: not known. Older recorders leave out this word
//	7  …            return addresses, leaf first; with bit 63: a label of the program,
//	                see [StackLabel]; the word [StackCut] where calls were left
//	                out, after which the outermost ones follow
//
// The position's low 32 bits distinguish a record from the remains of another one. A record
// stands for overrun + 1 periods of CPU time, or for the CPU time if that is known: the handler
// keeps the thread's CPU clock in the head, where the recorder puts it before it starts the
// timer. Top is the caller of a function without a
// frame, which frame pointers don't give; only the tables of the program say whether a
// function has a frame. On arm64 the first return address may lie 2 bytes before an
// instruction: then the interrupted function seems to be about to make its frame. If by the
// tables it has none, that is not a return address.
//
// The handler clears the first word, writes the others, then the first word, then the head.
// For each record the recorder sets next to the tail after it, and index to that of the
// block to be, before it commits this block; then it sets tail to next. So what lies
// between tail and next was drained if the block at index is committed, or has been
// discarded since.
//
// # Control page
//
// A session's directory holds the instances' directories, named after them in 16
// hexadecimal digits, and the file control: a header of 4,096 bytes, see
// [ControlHeader], and [MaxSlots] slots of [SlotSize] bytes. All processes of the session
// map it; package chunks/session says what they do with it. Words are 8 bytes, aligned, and
// stored one by one:
//
//	 0  instance       8, 0: the slot is free    64  released        8
//	 8  pid            4                         72  range start     8
//	12  kind           4, see [SlotKind]         80  hand-out mark   8
//	16  held           8                         88  discarded       8
//	24  chunk          8                         96  obeyed          8
//	32  oldest     3 x 8                        104  keep            8
//	56  request        8                        112  ended           8
//	                                            120  guarded         8
//
// Times are ns of CLOCK_REALTIME, which containers and time namespaces share.
// Held is the size of all files of the instance, chunk that of one chunk file, and released
// that of the chunk files that can be given up; oldest are the done times of the first
// three of these, 0 for none. A request asks the owner to give up what was done at or
// before a time. Keep is how many ns before a crash are protected. For a dead owner, ended
// is the time of its end, otherwise 0, and guarded the size of what it recorded within Keep
// of that, and of all files that are not chunks.
//
// The slot of a child that ended cleanly ([SlotChild]) has its parent's instance in place of
// obeyed, and in place of guarded the hand-out mark that its parent had then. To a reader
// that does not know this kind it is some dead owner.
//
// # CRC
//
// CRC-32C (Castagnoli). "Seeded with a and b" means: the CRC of the 16 bytes a
// X, b X, continued over the data.
//
// # Versions
//
//	0  2026-11       until the first release
//	1  first release the same bytes; the number in the headers rises
//
// Until the first release a byte may still change if a test shows that it is wrong. From
// version 1 on:
//
//   - A kind keeps its number, and its fields keep their order, types and meaning.
//     Headers, slots and rings keep their offsets. The commit word, the index,
//     page seals and CRCs keep their meaning.
//   - There may be new kinds, new fields after the last one of a kind, new keys of meta,
//     new flags that a reader may ignore, and new files in a directory. A reader skips
//     what it does not know, and counts it. [Spec.Introduced] says which version
//     introduced a kind.
//   - A change that an older reader would misread requires a new version. A reader refuses
//     versions above its own ([ErrVersion]) and reads all below it.
//   - Only a new version may raise limits (Max…).
//
// Recordings and vectors of a released version stay in the fixtures unchanged.
package rawformat
