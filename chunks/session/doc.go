// Package session lets the processes that record in one directory share one limit,
// without a daemon. Each of them maps the session's control page and owns a slot
// there, in which it says what it holds. Its peers notice that it has died because the
// lock of its directory is free then. Pids and parents play no part, so that it works
// across pid namespaces and between containers that share a volume.
//
// # Ownership
//
// A slot and an instance directory belong to the process that holds flock on the
// directory's lock: the process itself or, after its death, whichever peer is looking
// after what it left. Only the owner writes the slot, except for the request word.
// Slots are taken and freed under flock on the control page.
//
// # Growing
//
// A process that wants another chunk first announces it in its slot and then sums up
// all slots. If the sum is over the limit it withdraws the announcement. Of two
// processes that grow at the same time, at least one sees the other. The first two
// chunks need no permission, so a session may exceed its limit by two chunks for each
// process until the others have made room.
//
// # Making room
//
// While the sum is over the limit, or a process waits for room, the globally oldest
// released chunk is discarded. Every process works this out for itself, by
// [Slot.Balance], and all come to the same result. These rules are Gecko's:
//
//   - Accounting is optimistic: what a process was asked for counts as gone. The
//     owner's next publication says what it really holds.
//   - A request names a time and asks for everything that was done at or before it,
//     so it can be repeated.
//   - "Over the limit" means strictly more.
//
// An owner obeys at its next tick and then clears the request, because clocks may be
// set back. A process that merely waits for room, while the sum is within the limit,
// reuses its own oldest chunk if that is about as old as the oldest of all; otherwise
// two equally busy processes would take files from each other for ever.
//
// If the disk has less room than the limit, the size of the session at the moment when
// this is noticed counts as its limit. So a program that is restarted on a full disk
// gets the room of what it left before.
//
// # Guards
//
// No process falls below its guard. That of a live process is its floor: the limit
// divided by twice the number of processes. Of the processes that died uncleanly, the
// newest and the first of the same crash loop (crashes of a loop are at most an hour
// apart) have a floor too, and what they recorded within their Keep is protected as far
// as half the limit suffices for both.
//
// So has a child that ended cleanly, until it expires: when its parent's range start has
// passed the mark in its exit record, or when its parent is gone. That is when Gecko drops
// an exit profile. A parent that has ended is gone, unless it is a protected crash or a
// child that has not expired itself. The 32 newest children have a floor, fewer if two
// chunks of each don't fit. They count among the number of processes, but together as no
// more than all others. Once it has expired, a child is the first to make room.
//
// All others have no guard: older crashes, those with a Keep of zero, and those that ended
// normally. When the last chunk of an instance is removed, so are its slot and directory,
// except for a tomb: exit, which says how much was discarded, and meta, reduced to what
// identifies the process, and to why a child went. A session keeps the 32 newest tombs, a
// few KB each, beside its limit.
//
// A process of an earlier version knows nothing of children in the page: it removes them by
// age, and gives its own no floor.
//
// # The dead
//
// The peer that finds a process dead writes its exit record if there is none ("found
// dead", at the time of its last commit, with its parent's hand-out mark), and enters
// in its slot what it left. Chunks that are removed later are noted in the exit
// record first, as a new range start and number of discarded chunks. Directories
// without a slot, for example from an earlier version, get one when a process joins.
//
// # Cost
//
// Each tick reads the first words of all slots. Every 50 ms each process does one open,
// one flock and one close, however many processes there are. While room is short, all
// words of all slots are read once in as many milliseconds as there are slots. There is
// room for 1,024 instances, live and dead. After that, a process that joins gets
// [ErrSlots], unless there are remains without a guard that can be removed.
//
// # Damage
//
// A page that was cut short, or whose header is damaged, is repaired in place, and slots
// that were lost are taken again. When the page is removed or replaced, all processes
// go over to the file that has its name now. A fault while the page is in use is an
// error, not a crash. Writers of blocks never touch the page; only the housekeeper does.
package session
