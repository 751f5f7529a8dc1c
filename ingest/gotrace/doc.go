// Package gotrace reads Go execution traces: what runtime/trace writes, or its
// flight recorder, or /debug/pprof/trace.
//
// Events come from golang.org/x/exp/trace, behind one file of this package
// (library.go); traces of Go 1.22 and later. Such a trace is made of generations,
// each of about a second and complete in itself. The library is given one at a
// time, and holds it in memory; this package keeps beside it the live goroutines,
// tasks and ranges: so it does not matter how long a trace is.
//
// # What becomes of it
//
//   - CPU samples, if a CPU profile ran at the same time, are Samples.
//   - What goroutines wait for (channels, locks, the network, sleep, a processor,
//     a system call) is Waits: by stack, with the reason as its innermost frame.
//     Waits at one stack that end within 10 ms are one row. A wait that outlasts a
//     generation is cut at its end; the last part alone counts as a wait, so that
//     both the time and the number of waits are those of the trace.
//   - System calls, the garbage collector's marking, sweeping and assists, stops of
//     the world with their reasons, tasks, regions and logs are Markers. Of what
//     began before the trace there is an end alone, of what goes on after it a
//     beginning.
//   - In each generation a marker "goroutines" says, for each root function, how
//     many of them were created and ended, and how long all together were running,
//     runnable, waiting, and in system calls.
//   - Heap, heap goal, GOMAXPROCS, threads, and goroutines by state are Counts; the
//     last at most once in a millisecond.
//
// # Tracks
//
// Goroutines come by the thousand and root functions by the dozen, so there is a
// track for each root function and none for a goroutine; whose a row is says its
// Who. With tracks for threads or processors, samples and markers are on those,
// and a marker "running" shows each time that a goroutine ran there.
//
// # Clocks
//
// From Go 1.25 on, each generation has a reading of the trace's clock, the
// monotonic one and the wall clock. The trace is put on the time line by the
// first, and on the monotonic clock by all of them. Older traces tell no real
// time.
//
// # Snapshots
//
// What a flight recorder had in its ring when two snapshots were taken is in both.
// Such a generation is read from the file that begins first ([Overlap]), and the
// ledger counts it. What lasts from one file into the next is cut there.
//
// # Damage
//
// A generation that can't be read costs that generation; a file that is cut short
// the one in which it ends. The ledger says at which offset, and where generations
// are missing. Goroutines are then met anew, as at the beginning of a trace.
package gotrace
