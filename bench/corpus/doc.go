// Package corpus makes recordings to measure with: of any size, the same bytes
// for the same options, of stacks that look like those of a real service.
//
// A [Stacks] is the tree that samples are drawn from: some forty frames deep, a
// trunk that nearly all share, and tails of great variety. Threads sample it,
// and their work moves from writer to writer as goroutines do. The files are
// those that a recorder leaves that was stopped: every page is sealed.
package corpus
