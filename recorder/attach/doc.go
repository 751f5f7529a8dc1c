// Package attach samples processes from outside, whatever they are written in: the
// kernel's perf_event says where their threads are while they run, and when and where
// they leave the processor. What it says is recorded as a process would record
// itself: into a ring of chunk files of its own for each process, in a session, with
// one limit for all.
//
// What is recorded outlives whoever is killed, the process or the sampler; only what the
// kernel had not handed over yet is gone, a tenth of a second.
//
// # From the kernel into a ring
//
// For each thread there is an event on each processor, for the kernel lets events be
// inherited only so: threads and processes that begin later have theirs from who began
// them. All events of a processor write into one buffer, which is mapped. Rounds read
// the buffers, bring records into the order of time, and write what they mean:
//
//   - A sample of the thread's CPU clock becomes a busy block, one period of CPU time. Of
//     the kernel there are frames as well, where it allows that.
//   - A switch off the processor, and the next one back, become an off-cpu block, at the
//     stack that a second event tells for the moment of leaving.
//     One that has not come back when the sampling ends is told up to then.
//   - Names, mappings, forks and exits say what the above is of. A process that forks
//     has a child, which gets a ring when there is something to record of it, after its
//     parent; one that runs another program goes on as a child of what it was.
//
// Stacks are found by frame pointers, which Go has, and C if it was compiled with
// -fno-omit-frame-pointer. Of the user's code there are places in files, by build id; names
// are found on reading, see package ingest/symbols. Names of the kernel's functions are
// known on this machine only, so they are written into the dictionary.
package attach
