// Package perf reads what Linux perf records: perf.data, and the text that perf script prints of
// it.
//
// A file covers many processes: those that perf met, each from its fork or exec on. Each thread is
// a track; the main thread's is the main one. The records become events:
//
//   - Samples of a clock (cpu-clock, task-clock), or else of CPU cycles, become samples. The period
//     of clock samples is CPU time.
//   - Samples of all other events (page-faults, cache-misses, tracepoints), and the periods of
//     cycles, become measurements named after the event: what perf report sums up.
//   - A group (perf record -e '{cycles,instructions}:S') is read with the samples of its first
//     event: by how much each counter has grown.
//   - Stacks copied for later unwinding (--call-graph dwarf) are followed by the programs' tables of
//     call frames (see [File.FollowBy]); without them only the user code's address is kept.
//   - Context switches (perf record --switch-events) become waits: how long a thread was off the
//     CPU, and whether it was preempted. A thread that does not come back waits up to the end. A
//     sample of context-switches or sched:sched_switch tells the stack.
//   - Kernel and user frames have categories of these names, except that functions of Go programs
//     have Go's.
//
// Frames are places in files, identified by the build ids that perf noted. A perf.data has no
// function names; they come from the files themselves (see [File.NameBy]). In the text they are
// there already.
//
// # Reading
//
// A file is read front to back twice: on opening, for processes, their mappings, and an estimate of
// the number of stacks, so that too many for the memory are refused at once; then for the samples.
// Records of several CPUs are unordered, so mappings are looked up by time. Compressed records
// (perf record -z) are one stream, read after the others. See perf.data-file-format.txt and
// perf_event_open(2) for the format. Files of big-endian machines are not read.
//
// # Text
//
// perf script prints any set of fields (-F), and names contain spaces and parentheses. The first
// line of a sample is parsed from its time in both directions, a frame's line from its end;
// [Script.Lacks] says which fields are missing. Without times all samples are at one moment. A text
// is read twice: for its processes, skipping frames, then for the samples.
//
// # Clocks
//
// perf counts from the boot. Only with -k CLOCK_MONOTONIC (or another clock) does a file have the
// real time as well; otherwise its clock is unrelated to any other.
//
// Input is not trusted: each length is checked before it is used. Unreadable input is a
// [damage.Error] with its offset, or a ledger line; all before it is read.
package perf
