// Package spans says for which span of a distributed trace a goroutine worked when it was
// sampled. The span is known later than the sample: it is recorded when it ends. So samples of
// processes that record spans wait, in a temporary file when they are many, until the whole
// input was read; all else passes at once.
//
// A span covers what the goroutine did on which it began, from its begin to its end; of several,
// the one that began last counts. If nothing tells where it began, it is the goroutine on which
// it ended. A start that announced an interval is left out, since the interval says all: see
// Spans in the package comment of rawformat. A start without an end covers the rest of the
// recording, and stays.
package spans
