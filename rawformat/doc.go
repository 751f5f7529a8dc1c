// Package rawformat is the wire format of a recording: what the bytes of a
// chunk, a dictionary, a meta and an exit file mean.
//
// This comment is the specification. [Kinds] is its table of blocks; the
// writer, the reader, the text twin, the fixtures and the fuzz targets are
// all driven by that table. All fixed-width integers are little-endian.
// Version 1 is what this comment says; see Versions for what may still change.
//
// # Integers and strings
//
//	U  ULEB128 of a 64-bit value, at most 10 bytes, shortest form not required
//	S  U of the zig-zag form: 0, -1, 1, -2 … are 0, 1, 2, 3 …
//	T  S: the difference to the time before it (see Time)
//	C  S: the same in units of [SampleUnit] ticks; it is rounded down
//	X  8 bytes
//	B  U length, then that many bytes; text is UTF-8, invalid bytes are kept
//	P  U count, U first pc, then count-1 times S: the difference to the pc before
//	A  arguments (see Arguments)
//
// A reader refuses a ULEB128 that is cut short ([ErrTruncated]), that has bits
// beyond the 64th ([ErrOverflow]), and a length above its limit ([ErrTooBig]).
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
// The length is never 0 and never above [MaxBlock]. A reader skips a kind that
// it does not know by its length, and counts it. Bytes behind the last known
// field are skipped too: a later version may append fields to a kind.
//
// # Index
//
// A process has one index space: a u64 byte position that is never reused. 0
// is null, 1 is the first. A chunk is handed a range of it when it is opened;
// a block's index is that of its length's first byte, so
//
//	index = range start of the chunk + offset in the payload
//
// Several chunks are open at once, one for each writer, and the oldest that is
// closed is discarded first; so a hole below an older chunk is no fault. A
// chunk's header says how many were discarded until then: when more ranges
// than that are missing, chunks are.
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
// A chunk that lies in memory has the same header, and a payload of any size.
//
// The epoch tells one use of a file from the next: it is 0 while the file is
// not in use and otherwise a number that the process never uses twice. Opening
// a chunk is, in this order: epoch = 0, trailer epoch = 0, commit = 0, page
// table = 0, the fixed fields and their CRC, trailer, epoch = n. Each step is a
// release store or stands before one.
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
// Offset is that of the first payload byte that is not committed; blocks is
// how many blocks begin below it. A reader trusts no byte at or above offset.
//
// # Page and sync
//
// The first block that begins in a 4 KiB page of the payload is a sync block
// (a straddling tail or the end of a longer block may lie before it). It
// restates the block's own index, the chunk's epoch, the time and the context,
// so that every page can be decoded without the pages before it, and a page of
// another chunk or of another use of this file is recognised:
//
//	length | kind 1 | index U | epoch U | time U | goroutine U | track U
//
// A page is sealed by its entry in the page table: a CRC-32C of the page's
// bytes (the last page: up to the commit offset), seeded with instance and
// epoch, and the offset of the first block that begins in it. Pages that are
// full may be sealed while the chunk is open; the rest when the chunk is
// closed. A damaged page costs the blocks that have a byte in it, no others.
//
// Bytes of pages that are not sealed are unproven. They are read under the
// commit rule, and each page must begin with its sync block.
//
// # A copy made while the ring turned
//
// A tool that copies a live ring reads the header first and the trailer last.
// If the trailer bears the header's instance and epoch, nothing in between was
// reused meanwhile, because reuse clears the trailer before it changes
// anything else. If it does not, only sealed pages count: a page whose CRC,
// which is seeded with instance and epoch, does not fit belongs to another
// use of the file, or to two of them.
//
// # Straddling
//
// With [FlagStraddle] a block may begin in one chunk and end in the next one
// of the same writer (the heap buffer does that; chunk files never do). The
// next chunk's FirstBlock is then the length of the tail that it begins with.
// The writer stores tail bytes, then the next chunk's commit, then the first
// chunk's. A tail counts only when the first chunk's commit covers its head:
// commit offset = Capacity.
//
// # Time
//
// A time is in ticks of the chunk's clock: nanoseconds of CLOCK_MONOTONIC
// ([ClockMonotonic]) or of the time-stamp counter ([ClockTSC]). The sync block
// states a time; each T and each C is the difference to the time before it in the
// same chunk, be that of a T, a C or a sync block. It may be negative: an event can be late.
//
// Anchors (tsc, monotonic, realtime) stand in the header, from opening and
// from closing, and in anchor blocks. They tie the ticks to the other clocks: a
// tick lies where it lies between the two anchors of the process around it, in
// even proportion, and behind the last one the rate stays. So that a reader finds
// them before it decodes anything, a process whose ticks are those of the
// time-stamp counter writes anchor blocks into chunks with [FlagAnchors] only.
//
// # Context
//
// The sync and context blocks say whose work the blocks behind them are, up to
// the next one: a goroutine (0 unknown) and a track (0 none: the events belong
// to the process as a whole, or to the root function of their stack). A labels
// block says which labels the program has given that work, up to the next one, or
// to the sync block of the next page, behind which there are none. Label sets are
// grown label by label, as stacks are frame by frame; [MaxLabels] bounds them.
//
// # Stacks
//
// A stack field is 0 for none, 1 for the stack block that stands directly
// before this block in the same page, and n+1 for stack n of the dictionary.
// Pcs stand leaf first. A pc, and a frame's offset, lies inside the instruction
// that was running or calling: writers subtract 1 from a return address.
//
// # Samples of threads
//
// A sample block says all that there is to say of a sample. Of those that threads
// take while they are busy most is the same again and again, so it is said once:
//
//	sampling   track and period of the busy blocks behind it
//	busy       time, thread, goroutine, stack: a sample of weight 1 and period ns of
//	           CPU time
//	idle       thread, after: a sample of weight 0 and no CPU time
//
// A sampling block holds up to the next one or to the sync block of the next page; its
// period is 0 if it is the one before. A thread is the difference to that of the busy
// block before, and so is a goroutine. What has none before it in the page counts
// from 0, which is unknown.
//
// An idle block says that its thread uses no CPU time: from the last sample on, too,
// it has used so little that none was due. Stack, goroutine, track and labels are
// those of the thread's last sample of whatever kind in the same chunk, and so is
// the time, but for after times [SampleUnit] ticks that went by since. A reader that
// does not have that sample drops the block, and counts it.
//
// # Time off the processor
//
// An off-cpu block says how long a thread was off the processor, when it came back or
// was sampled no longer, and for which of [OffReasons]: it tells of threads that somebody
// samples from outside. Track and stack are its own.
//
// # Heap samples
//
// A site is a stack and the size of the objects that are allocated there. An
// allocation block says of how many objects of a site samples were taken:
// allocated and freed since the block before it of the same site, and until then
// since the process began (allocated-before, freed-before). Previous is the index
// of that block, 0 if there is none: a reader that has all from the range start
// on, but not that block, counts what was before it as well, once. So that what is
// in use can always be told, a site is restated when its last block lies in the
// older half of the ring.
//
// Each byte is sampled with a probability of 1 in rate, so an object of a size is
// with 1-exp(-size/rate). A number of samples stands for that many divided by it;
// with a rate of at most 1 all objects are sampled.
//
// # Arguments
//
//	shape U | values
//
// The shape says how many values there are and of which wire type, so that a
// payload can be read without its event's definition. Two bits an argument,
// the first argument lowest, and a 1 above the last:
//
//	0 S   1 U   2 X (IEEE 754 double)   3 B
//
// An event with no arguments has the shape 1. [MaxArgs] bounds their number.
//
// # Dictionary file
//
//	offset 0   magic "gprD" | version u16 | 0 u16 | instance X | generation u32 | pid u32 | CRC-32C u32 of the above | 0 u32
//	       32  records
//
// A record is a block followed by 4 bytes: the CRC-32C of the block, seeded
// with the instance and the generation. Ids are dense from 1 within a
// generation. A definition is appended before its id is used. Records of
// damaged CRC are skipped by their length; a record that is cut short ends the
// file.
//
// # Meta and exit file
//
// The same file header (magic "gprM", "gprX", generation 0), followed by
// records: meta records are key and value, see [MetaKeys]; an exit file holds
// one exit record. Both are written beside and renamed.
//
// # Stack ring file
//
// A thread whose CPU samples are taken by signals has a ring of its own, the file
// stacks-TID of [StacksFile] bytes: a head of one page, see [StacksHeader], and
// [StacksWords] words of 8 bytes. The signal's handler writes records into it; the
// recorder drains them into sample blocks of chunks, and removes the file when the
// thread ends, or at Stop. What it held when the process was killed counts.
//
// Head and tail are positions: words ever written, and ever drained. Word p lies
// at p modulo [StacksWords]; a record may begin at the end of the file and end at
// its beginning:
//
//	0  63          32 31            16 15            0
//	   +-------------+---------------+---------------+
//	   | position    | overrun       | size          |   of the record, in words
//	   +-------------+---------------+---------------+
//	1  time         in ticks, see Time
//	2  goroutine    0 none, or not known
//	3  labels       an address that means something only to the process; 0 none
//	4  pc           that was interrupted
//	5  top          amd64: the word at the top of the stack, arm64: the link register;
//	                0 not known
//	6  …            return addresses, leaf first; with bit 63: a label of the program,
//	                see [StackLabel]; the word [StackCut] where calls were left
//	                out: behind it come the outermost ones
//
// The position's low 32 bits tell a record from what is left of another one. A
// record stands for overrun + 1 periods of CPU time. Top is the caller of a
// function without a frame, which frame pointers don't tell; whether the function
// is one, only its program's tables tell. On arm64 the first return address may lie
// 2 bytes before an instruction: the interrupted function seems to be about to make
// its frame. If by the tables it has none that is no return address.
//
// The handler clears the first word, writes the others, then the first word, then
// the head. The recorder, for each record: next = the tail behind it, and index =
// that of the block to be, before it commits this block; then tail = next. So what
// lies between tail and next was drained if the block at index is committed, or was
// discarded since.
//
// # Control page
//
// A session's directory holds the instances' directories, named after them in 16
// hexadecimal digits, and the file control: a header of 4,096 bytes, see
// [ControlHeader], and [MaxSlots] slots of [SlotSize] bytes. It is mapped by all
// processes of the session; what they do with it is said in package chunks.
// Words are 8 bytes, aligned, and stored one by one:
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
// Held are the bytes of all files of the instance, chunk those of one chunk file,
// released those of the chunk files that can be given up; oldest are the done
// times of the first three of these, 0 where there is none. A request asks to
// give up what was done at or before. Keep is how many ns before a crash are to
// be protected. Of a dead owner there are also the time of its end, 0 while it
// lives, and the bytes of what it recorded within Keep of that, with all that is
// no chunk.
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
// Until the first release a byte may still change where a test shows that it is
// wrong. From version 1 on:
//
//   - A kind keeps its number, and its fields keep their order, types and meaning.
//     Headers, slots and rings keep their offsets. The commit word, the index,
//     page seals and CRCs keep their meaning.
//   - There may be new kinds, new fields behind the last one of a kind, new keys of
//     meta, new flags that a reader may ignore, and new files in a directory. A
//     reader passes over what it does not know, and counts it. [Spec.Introduced]
//     says which version brought a kind.
//   - A change that an older reader would read wrongly is a new version. A reader
//     refuses a version above its own ([ErrVersion]) and reads all below it.
//   - Limits (Max…) may be raised by a new version only.
//
// Recordings and vectors of a released version stay among the fixtures as they are.
package rawformat
