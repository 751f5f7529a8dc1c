package stream

// Source gives the events of one or more processes. One that holds anything,
// such as goroutines, is an [io.Closer] as well: who has read enough closes it.
type Source interface {
	// Next fills b, whatever it holds, with rows of one series. It returns
	// io.EOF, with no rows, when there are none left. Trouble with the input
	// that still leaves something to read is a line in the ledger, not an
	// error.
	Next(b *Batch) error
	// Tables holds what the rows refer to. They are complete after io.EOF.
	Tables() *Tables
}

// Sink writes events in some format.
type Sink interface {
	// Begin is called once, before any segment, with final ids. The tables
	// stay valid and unchanged until Close returns.
	Begin(t *Tables) error
	// Segment is given at most 8,192 rows at a time, which it leaves as they
	// are, in this order: by part of time, of which there is but one unless the
	// Source is a Cut; by process; within it by track, the main track
	// (Track.Main) first; then what belongs to no track. Within a track:
	// samples, then waits, then measurements measure by measure, then markers event
	// by event, then delays, then allocations. A
	// series may come in many segments, each sorted by (Time, Index) and none
	// beginning before the end of the last.
	Segment(b *Batch) error
	// Close finishes the output; it is not called after an error.
	Close() error
}
