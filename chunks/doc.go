// Package chunks is what lies in the directory of one recorded process, an
// instance directory:
//
//	lock         locked while the process lives             Lock, Alive
//	meta         who the process is                         WriteRecords
//	exit         how it ended                               WriteRecords
//	chunk-NNNNN  the ring: blocks, in mapped files          Ring
//	stacks-TID   samples of a thread that are not in chunks yet  Stacks
//	trace-NNN.out  a window of Go's execution trace       WriteTrace
//	dict-NNN     what the ids in the blocks mean,
//	             one file for each generation of ids        RecordFile
//
// A name that ends in .new is that of a file which is being written. What the
// bytes mean is said in package rawformat. Package folder makes and opens the files: of a
// recording in memory they are memory, and read the same. A session is a directory of them,
// with a control page:
//
//	control      one limit for all processes                Control
//	<instance>/  16 hexadecimal digits
//
// # Chunks
//
// A [Chunk] has one writer at a time and goes through these states:
//
//	Created -> InUse -> Done -> InUse -> ...
//
// The state in the header informs; what a reader goes by is the epoch, which is 0 while the
// chunk is being opened (rawformat says in which order), and the commit word.
//
// # Ring
//
// A [Ring] hands out spare chunks, then those that were released, the oldest
// first: they are discarded. Get and Release are for writers' hot paths.
// Maintain, for one housekeeper, seals pages, makes spare chunks ready and gives
// files back, so that chunk files and what was charged stay under the limit.
//
// # Session
//
// All processes of a session share one limit without a daemon. Each maps the
// control page and owns a slot there. Its peers find out when it dies, since
// the lock of its directory is free then. Pids play no part, and neither do
// parents, so that it works across pid namespaces and containers which share a
// volume.
//
// Ownership: a slot and an instance directory belong to the process that holds flock on the
// directory's lock, be it the process itself or, when that is dead, one of the
// others for as long as it looks after them. Only the owner writes the slot,
// but for the request word. Slots are taken and made free under flock on the
// control page.
//
// Growing: a process that wants another chunk first announces it in its slot and
// then sums all slots. If the sum is over the limit it takes the announcement
// back. Of two that grow at once, at least one sees the other. The first two
// chunks need no leave, so the session may exceed its limit by two chunks a
// process, until the others have made room.
//
// Making room ([Slot.Balance]): while the sum is over the limit, or a process
// waits for room, the globally oldest released chunk goes. Everybody looks for
// himself and comes to the same result. Of the rules for this, these are
// Gecko's: accounting is optimistic, what was asked of a process counts as gone;
// the owner's next publication tells what is; a request names a time, and asks
// for everything that was done at or before, so that it can be repeated; over
// the limit is strictly more. An owner obeys at its next Maintain, and then
// clears the request, because clocks may be set back. A process that only waits
// for room, while the sum is within the limit, uses its own oldest chunk again
// if that is about as old as the oldest of all: else two that are equally busy
// would take files from each other for ever.
//
// Where the disk has less room than the limit, what the session held when that
// turned out counts as its limit; so a program that is restarted on a full disk
// takes the room of what it left before.
//
// Guards: nobody falls below its guard. That of a living process is its floor,
// the limit by twice the number of processes. Of those that died uncleanly the
// newest and the first of the same crash loop (an hour at most lies between two
// crashes of a loop) have a floor too, and what they recorded within their Keep
// is protected as far as half the limit suffices for both. Others have no guard,
// nor have those that wish to Keep nothing, or that ended as they should. An instance whose last
// chunk goes is removed, slot and directory, but for a tomb: meta, cut to what names the
// process, and exit, which says how much went. A session has 32 tombs at most, the newest,
// of a few KB each, beside its limit.
//
// The dead: who finds one writes its exit record if there is none ("found
// dead", at the time of its last commit, with its parent's hand-out mark), and
// what it holds into its slot. Chunks that go later are noted in the exit record
// first: range start and number of discarded. (A process that lives notes in
// meta what it gave back, when no chunk's header does.) Directories without a
// slot, left by an earlier version say, get one when somebody joins.
//
// Cost: a look at the first words of each slot at each tick; one open, flock and
// close each 50 ms and process, however many there are; while room is short, a
// look at all words of each slot, once in as many milliseconds as there are
// slots. More than 1,024 instances, living and dead, do not fit: who comes then
// gets [ErrSlots], unless there are remains without a guard to remove.
//
// Damage: a page that is cut short or whose header is damaged is repaired where
// it lies, and slots that were lost are taken again. When somebody removes it, or
// puts another in its place, all go over to the one that has the name. A fault while a page is used
// is an error, not a crash. Writers never touch the page: Get and Release do not,
// Maintain and Balance do.
//
// # Record files
//
// A [RecordFile] is a dictionary that grows by whole records, or not at all
// when the disk is full. WriteRecords writes a file beside and renames it.
//
// # Traces
//
// trace-000.out, trace-001.out and so on (at least three digits) hold what
// runtime/trace has written, and nothing besides: go tool trace reads them as they
// are. A marker of the event "go trace" refers to one: an interval, as long as what
// was asked for, with the file's name and size. Such files are whole, or end in
// .new. They count against the limit, each is at most [rawformat.MaxTraceFile] long,
// and who writes one more removes the oldest ones for it; of an instance that is
// dead those go that were written before the chunks that go.
//
// # Reading
//
// [OpenProcess] reads headers, dictionaries, meta and exit of an instance
// directory, alive or dead. A [Reader] then goes over the blocks that are
// intact, in order of ranges. What is not intact is a [Problem], not an error.
package chunks
