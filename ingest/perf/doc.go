// Package perf reads what Linux' perf records: perf.data, and the text that perf
// script prints of it.
//
// A file tells of many processes: those that perf met, each from its fork or exec
// on. Each thread is a track; what the main thread did is on the main one.
//
// What stands for what:
//
//   - Samples of a clock (cpu-clock, task-clock), or where there is none of the
//     processor's cycles, become samples. Those of a clock have their period as CPU
//     time.
//   - Samples of all other events (page-faults, cache-misses, tracepoints), and
//     the periods of cycles, become measurements of the event's name: what perf
//     report sums up.
//   - A group (perf record -e '{cycles,instructions}:S') is told with the samples of its
//     first event: how far the counter of each has come.
//   - Stacks that perf copied to be followed later (--call-graph dwarf) are not followed:
//     of them there is where the user's code was. The text of perf script has them whole.
//   - Context switches (perf record --switch-events) become waits: how long a thread
//     was off the CPU, and whether it was preempted. One that has not come back has
//     waited up to the end. Where a sample of context-switches or sched:sched_switch
//     tells the stack, it is at that stack.
//   - Kernel and user frames have categories of these names, but for functions of
//     Go programs, which have those of Go.
//
// Frames are places in files, which have the build ids that perf noted. Their
// names are not in a perf.data; who has the files can name them (see
// [File.NameBy]). In the text they are named already.
//
// # Reading
//
// A file is read from its front, twice: when it is opened, for processes, what they
// mapped when, and about how many stacks there are, so that those that do not fit into
// memory are told of at once; then for the samples. Records of several processors are not
// in order, so what is mapped is looked up by time. Compressed records (perf record
// -z) are one stream, which is read behind the others. See perf.data-file-format.txt
// and perf_event_open(2) for the format; files of big-endian machines are not read.
//
// # Text
//
// perf script prints any set of fields (-F), and the names in them hold spaces and
// parentheses. A line that begins a sample is read from its time on, in both directions,
// that of a frame from its end; [Script.Lacks] says which fields are missing. Where the
// time is, all samples are at one moment. A text is read twice: for its processes, which
// skips the lines of frames, then for the samples.
//
// # Clocks
//
// perf counts from the boot. Only with -k CLOCK_MONOTONIC (or another clock) does
// a file tell the real time as well; else it has a clock that nobody else has.
//
// Input is not trusted: each length is checked before it is used. What can't be
// read is an [damage.Error] that tells the offset, or a line of the ledger; what stands
// before it is read.
package perf
