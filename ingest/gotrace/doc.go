// Package gotrace reads Go execution traces, as runtime/trace, its flight recorder, and
// /debug/pprof/trace write them.
//
// Traces of Go 1.22 and later can be read. Such a trace consists of generations of about a second, each
// complete in itself. Of one at a time there are in memory its strings and stacks, and a batch of 64 KiB
// for each thread; beside them only the live goroutines, tasks and ranges are kept, so the length of a
// trace does not matter. If there is another core, it reads events while the last ones become rows.
//
// Events are put in order like golang.org/x/exp/trace does it, which the tests compare with.
//
// # What becomes of it
//
//   - CPU samples, if a CPU profile ran at the same time, are Samples.
//   - Goroutines' waits (for channels, locks, the network, sleep, a processor, a system call) are
//     Waits: by stack, with the reason as its innermost frame. Waits at one stack that end within
//     10 ms are one row. A wait longer than a generation is split at its end; only the last part
//     counts as a wait, so that both time and number are right.
//   - System calls, the garbage collector's marking, sweeping and assists, stops of the world with
//     their reasons, tasks, regions and logs are Markers. A marker that began before the trace has
//     only an end, one that outlasts it only a beginning.
//   - In each generation a marker "goroutines" says, for each root function, how many of them were
//     created and ended, and how long all together were running, runnable, waiting, and in system
//     calls.
//   - On request ([Options.States]) each state of each goroutine is a marker, and so is each wake-up by
//     another goroutine.
//   - Heap, heap goal, GOMAXPROCS, threads, and goroutines by state are Counts; the last at most
//     once in a millisecond.
//
// # Tracks
//
// Goroutines come by the thousand and root functions by the dozen, so there is a track for each
// root function; a row's Who names the goroutine. With tracks for threads or processors, samples
// and markers are on those, and a marker "running" shows each time that a goroutine ran there.
//
// # Clocks
//
// From Go 1.25 on, each generation has a reading of the trace's clock, the monotonic one and the
// wall clock. The first places the trace on the time line, all of them follow the monotonic clock.
// Older traces have no real time.
//
// # Snapshots
//
// Two snapshots of a flight recorder share what its ring held both times. Such a generation is read
// from the file that begins first ([Overlap]), and the ledger counts it. Waits and markers that
// span two files are cut between them.
//
// # Damage
//
// Damage costs the rest of a generation, all of it if a table is damaged, and a file that is cut short
// the generation in which it ends. The ledger has the offset, and where generations are missing. Goroutines are then found anew, as at the
// beginning of a trace.
package gotrace
