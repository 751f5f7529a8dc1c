// Package compare says what changed between two sets of recordings, and which
// of it is more than noise.
//
// # What is compared
//
// Functions are matched by their names with their packages, markers by their
// names; so recordings of two builds, with other files and addresses, can be
// compared. Recordings may differ in length, number and sampling rate:
//
//	self, total        share of all samples, by CPU time
//	selfcpu, totalcpu  CPU seconds in a second of one process
//	cpu                the same of all functions together
//	cost               CPU seconds of a process, or of one of its markers
//	rate               markers in a second of one process
//	count              markers of one process
//	p50, p99.9, mean   of the durations of markers
//
// CPU time is compared with CPU time alone. Samples without one, such as those
// of goroutines that wait, are compared by their number, when they are asked for
// or when neither set has others.
//
// Instead of CPU time, the bytes in use, the bytes allocated or the time of waits can be compared by
// function. A counter that counts up is compared by its growth in a second of one process, others by
// their mean over time; counters are judged apart from functions and markers.
//
// # Call trees
//
// The call trees of both sets become one ([Tree]): functions that have another name now are found by their
// callers and callees (renamed.go), costs are measured by what did not change (scale.go), and costs that
// moved between neighbours are found (moved.go). Such functions are compared as one (kin.go). What is marked in
// a picture is surer than what has a star: by Holm's procedure, one picture of twenty has any mark that is noise.
//
// # Noise
//
// Processes are what varies: the samples of one are not independent of each
// other, those of two are nearly so. Each figure's error is that of drawing the
// processes of a set anew, with repetition, many times (a bootstrap, rescaled as
// Rao and Wu do, so that few processes do not make it too small). Processes of
// different programs are drawn apart from each other; programs with one process
// alone are drawn together, which makes errors larger, not smaller. Samples that
// were counted are random, too: the error is never below that of counting them,
// nor below the precision of a quantile.
//
// An interval is that of 95 %, by Student's distribution with Welch's degrees of
// freedom, that of a ratio by Fieller's rule. A change is judged if each set has
// three processes, and marked as found if it is among those that Benjamini and
// Hochberg's procedure takes at 5 %: of two sets without a difference it finds
// something once in twenty comparisons, however many functions there are.
// The random numbers have a fixed seed.
//
// # Pairs
//
// What a machine does to a process, by what else it runs, is often ten times what a change of the program does. So
// processes of both sets that ran at once, or else one after the other, are compared with each other
// (pairs.go). The logarithm of their ratio is a difference; the middle of all by Hodges and Lehmann is the
// change, and Wilcoxon's signed-rank test says what is noise, so some wild pairs decide nothing. Pairs that follow each other
// may be alike; their correlation makes intervals wider. This is for
// figures that each process of a pair has; others, and sets without pairs, are compared as above.
//
// # Conditions
//
// Each condition has an equal part of the chance of a false alarm, and the functions that one about all of them stands for
// share it by Holm's procedure: whatever there is to be found, one gate of twenty at the most has a false alarm. That
// half of them are for growth alone makes it one of forty. Each says which change would have been found with a probability of
// 95 %, given what varied (outcome.go). Few pairs have few orders, too few to tell one of hundreds of functions for sure; then
// that is compared without them.
package compare
