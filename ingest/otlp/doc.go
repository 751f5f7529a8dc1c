// Package otlp reads OpenTelemetry's profiles, as its collector and profilers write them, as events: a
// ProfilesData message, or a request to export one, as protobuf or as JSON. Package rawformat/otlpproto
// says which state of the specification that is.
//
//   - A resource is a process. Its attributes of the semantic conventions are what is known of the
//     process, the others are its attributes.
//   - A file may have many messages, with tables of their own: so the collector's file exporter writes them, JSON on a line each, and
//     protobuf with its length before it. Resources that say the same in several are one process. One that is
//     cut short is not read.
//   - The profiles of a resource that follow each other, and have the same samples, are one: a writer
//     makes a profile of each type of values. The values become events by their types, see package
//     values.
//   - Samples keep their times. Those without are spread evenly over their profile's duration, and the
//     ledger says so. A time without a value counts as one.
//   - The attribute thread.name is the track, thread.id its thread, goroutine the goroutine; all others
//     are labels. A link is the span that the sample is part of.
//   - Code without a function is named by given programs (see [File.NameBy]).
//   - What a profile's attributes and its scope say is attributes of the process, named as in pprof's
//     format where they come from there. Comments of gprof's own become lines of the ledger again.
//
// # Reading
//
// A file is larger than memory, its tables mostly follow the samples, and the profiles of one run follow each
// other. So a file is read several times: on opening, for its resources and what its samples have in
// common (survey.go); then for its tables (dictionary.go); and then, as often as profiles belong
// together, for their samples (source.go). Only the tables are held. JSON becomes fields of protobuf as it is
// read (text.go).
//
// Input is not trusted: lengths are checked before allocating, and undefined numbers are ledger lines.
// Fields of a later state of the specification are counted and left out. A file of a state without a table of stacks is
// refused.
package otlp
