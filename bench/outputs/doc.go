// Outputs measures what each output costs, from the raw recording to the whole
// file, beside what one would write with a library for it. It prints one table,
// in Markdown.
//
//	go -C bench/outputs run . -samples 5000000
//
// Every line is a program of its own, so that its memory can be told; the best
// of some runs counts, because other programs only make a run slower. CPU is
// that of the program itself: what the system does for it is not in it, but is
// printed beside it. "Output" is what a line takes more than the line that
// decodes, sorts and writes nothing.
//
// The libraries get the same sorted rows, as a [stream.Sink] that does what one
// does with them: it puts together the value that the library is to write.
//
// It is a module of its own, so that nobody gets its dependencies by using ours.
package main
