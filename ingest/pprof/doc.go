// Package pprof reads profiles in the format of github.com/google/pprof,
// profile.proto, as events: those of Go's runtime/pprof, and those that tools for
// other languages write.
//
// A file is one process: nothing in it tells more. Its program is the first
// mapping's, its time that of the profile.
//
// What stands for what:
//
//   - The values samples/count and cpu, a time, become samples: a row for each
//     stack and set of labels, whose weight is the count. Where only the time is
//     there, the period tells how many that were.
//
//   - alloc_objects, alloc_space, inuse_objects and inuse_space, where all four are
//     there, become allocations: what was allocated, and what of that was freed.
//
//   - Everything else, such as contentions and delay, goroutine, or wall, becomes
//     measurements, on a track for each measure. So do the values of a sample that
//     the two above can't express, such as those below zero of a difference.
//
//   - Times and bytes are in nanoseconds and bytes, whatever their unit was.
//
//   - Samples have no moment. They are spread evenly over the time of the profile,
//     as the recorder does with the CPU profiles that it takes, and the ledger says
//     so; or stand at its time if it took none.
//
//   - Labels stay, also numeric ones, as texts with their units; a number called
//     goroutine is one. Several values of a label are one text, with commas.
//
//   - Code without a function is named by programs that are given (see
//     [File.NameBy]). Functions of Go programs have their categories.
//
//   - Comments, the default sample type, what frames are to be dropped or kept, and
//     the URL of documentation are attributes of the process. Such frames are
//     still there.
//
// # Reading
//
// The parts of a file refer to each other by numbers, and most of what a sample
// needs stands behind it. Of a thousand files of one program nearly all is the same.
//
//  1. A file is read to its end when it is opened, for its time and its digest
//     (scan.go), its tables (tables.go), and where its samples are.
//  2. What the samples refer to is brought into a pool that all files share
//     (translation.go). A sample becomes some bytes, which are kept (sample.go): of
//     its stack the pool has the outer part, and they have the rest.
//  3. When it is the file's turn, those become rows of the run (samples.go), and
//     what is in the pool becomes rows of its tables, once for all files (code.go).
//
// A file that is large, or comes when the pool is full, is read as a stream of
// messages, each time from its front: for 1; then for its tables; then for its
// samples, which become rows at once (supply.go). What is held of it are its tables.
//
// Input is not trusted: lengths are checked before anything is allocated, ids that
// are not defined are lines of the ledger.
package pprof
