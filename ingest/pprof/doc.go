// Package pprof reads profiles in the format of github.com/google/pprof (profile.proto), those of
// Go's runtime/pprof and of tools for other languages, as events.
//
// A file is one process: nothing in it says more. Its program is that of the first mapping, its
// time that of the profile. The values become events by their type:
//
//   - samples/count and cpu, a time, become samples: a row for each stack and label set, whose
//     weight is the count. If only the time is there, the period tells the count.
//   - alloc_objects, alloc_space, inuse_objects and inuse_space together become allocations: what
//     was allocated, and what of that was freed.
//   - Anything else, such as contentions and delay, goroutine or wall, becomes measurements, on a
//     track for each measure. So do values that the two above can't express, such as negative ones
//     of a difference.
//   - Times and bytes are converted to nanoseconds and bytes.
//   - Samples have no time of their own. They are spread evenly over the profile's duration, as the
//     recorder does with its CPU profiles, and the ledger says so; or are at the profile's time if
//     it has no duration.
//   - Labels stay, numeric ones as strings with their unit; a number called goroutine is one.
//     Several values of a label are joined by commas. The tables know which were numbers.
//   - Names of functions that a linker knows, where they differ, are beside the frames, see
//     [stream.Tables.SetLinkName]. Samples that are zero everywhere are left out, unless the output
//     keeps them, see [stream.Tables.KeepZeros].
//   - Code without a function is named by given programs (see [File.NameBy]). Functions of Go
//     programs have their categories.
//   - Comments, the default sample type, the patterns of frames to drop or keep, and the
//     documentation's URL are attributes of the process. Such frames are not dropped.
//
// # Reading
//
// The parts of a file refer to each other by number, often forward. Of a thousand files of one
// program nearly all is the same.
//
//  1. On opening, a file is read for its header and digest (scan.go), its tables (tables.go), and
//     the positions of its samples.
//  2. Its functions, locations and labels are put into a pool that all files share
//     (translation.go). A sample is stored as some bytes (samples.go): the pool has the outer part
//     of its stack, the bytes the rest.
//  3. On its turn the stored samples become rows (samples.go), and what is in the pool becomes rows
//     of the tables, once for all files (code.go).
//
// A file that is large, or comes when the pool is full, is read as a stream of messages three
// times: for its header, its tables, and its samples, which become rows at once (source.go). Only
// its tables are held.
//
// Where only sums over all processes are wanted, files are added up as they are read (adding.go).
//
// Input is not trusted: lengths are checked before allocating, and undefined ids are ledger lines.
package pprof
