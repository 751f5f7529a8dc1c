package ingest

import (
	"errors"
	"io"

	"gprof/stream"
)

// without is a source that leaves out what is gone. It leaves the tables alone
// until all is decoded: before, they may be in use elsewhere.
type without struct {
	stream.Source
	gone  *gone
	lines stream.Ledger // what was left out
	kept  stream.Batch
}

// leaveOut returns src without what is gone; a nil g is nothing.
func (g *gone) leaveOut(src stream.Source) stream.Source {
	if g == nil || len(g.tracks)+len(g.counters)+len(g.pages) == 0 {
		return src
	}
	return &without{Source: src, gone: g}
}

// Next implements [stream.Source].
func (w *without) Next(b *stream.Batch) error {
	for {
		if err := w.Source.Next(b); err != nil {
			if errors.Is(err, io.EOF) {
				w.finish()
			}
			return err
		}
		if w.sift(b); b.Len() > 0 {
			return nil
		}
	}
}

// sift takes rows out of b.
func (w *without) sift(b *stream.Batch) {
	s := b.Series
	track, isTrack := w.gone.tracks[s.Track]
	counter, isCounter := w.gone.counters[s.Counter]
	switch {
	case isTrack && s.Kind.Tracked():
		w.drop(b, "events of tracks", track)
	case isCounter && s.Kind == stream.Counts:
		w.drop(b, "values of counters", counter)
	case s.Kind == stream.Pages:
		w.siftPages(b)
	}
}

func (w *without) drop(b *stream.Batch, what, name string) {
	w.count(b.Series.Process, what, name, int64(b.Len()))
	b.Reset(b.Series, 0)
}

func (w *without) count(p stream.ProcessID, what, where string, n int64) {
	w.lines.Add(stream.Line{Process: w.gone.processes[p], Reason: stream.ReasonExpired, What: what, Where: where, Count: n})
}

func (w *without) siftPages(b *stream.Batch) {
	if len(w.gone.pages) == 0 {
		return
	}
	k := &w.kept
	k.Reset(b.Series, len(b.Args))
	for i := range b.Len() {
		if w.gone.pages[page{b.Series.Process, windowOf(b, i)}] {
			w.count(b.Series.Process, "pages", "", 1)
			continue
		}
		k.Time, k.Index = append(k.Time, b.Time[i]), append(k.Index, b.Index[i])
		k.Phase, k.Duration = append(k.Phase, b.Phase[i]), append(k.Duration, b.Duration[i])
		for c := range b.Args {
			copyArg(&k.Args[c], &b.Args[c], i)
		}
	}
	*b, *k = *k, *b
}

func copyArg(to, from *stream.Column, i int) {
	if t := from.TypeAt(i); t.Textual() {
		to.AppendTextual(t, from.TextAt(i))
	} else {
		to.AppendBits(t, from.BitsAt(i))
	}
}

// finish tells the tables: a track that is gone becomes one with the main track,
// which every process has, and so is not shown. Copy leaves out the counters
// that have no rows.
func (w *without) finish() {
	t := w.Tables()
	for _, line := range w.lines.Lines() {
		t.Ledger.Add(line)
	}
	w.lines = stream.Ledger{} // told once, however often the end is asked for
	main := map[stream.ProcessID]stream.Track{}
	for id := stream.TrackID(1); int(id) <= t.Tracks.Len(); id++ {
		if row := t.Tracks.At(id); row.Main {
			main[row.Process] = row
		}
	}
	for id := range w.gone.tracks {
		t.Tracks.Amend(id, main[t.Tracks.At(id).Process])
	}
}

// Close implements [io.Closer].
func (w *without) Close() error {
	if c, ok := w.Source.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// Progress implements [stream.Progress].
func (w *without) Progress() (done, total int64) {
	if p, ok := w.Source.(stream.Progress); ok {
		return p.Progress()
	}
	return 0, 0
}
