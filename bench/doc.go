// Package bench measures the way of the data through the house, each stage
// beside the floor that no code can beat: copying the same bytes, or reading the
// same integers and doing nothing with them. A ratio of two benchmarks of one
// run is a figure; a time alone is the machine's.
//
//	go -C bench test -bench . -count 10 | tee new.txt
//	go -C bench tool benchstat -col /what new.txt
//
// On a shared machine only CPU time counts: metrics named cpu. Package
// fixtures/corpus makes the recordings, and bench/makecorpus writes them to look at
// with other tools.
package bench
