// Peers measures what recording costs, beside what one would use instead, and
// prints one table in Markdown.
//
//	go -C bench/peers run .
//
// It measures CPU time of the whole process, the housekeeper's too, because other
// programs on the machine don't change that much. All lines take turns in short rounds
// of one process, of which measure.go says which count; each line's figure, be it ours
// or a peer's, is the lower quartile of its rounds. So a ratio of two lines is a figure;
// a time alone is the machine's.
//
// It is a module of its own, so that nobody who uses gprof gets the peers'
// modules.
package main
