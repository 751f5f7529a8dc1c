package ingest

import (
	"errors"
	"io"
	"slices"

	"gprof/chunks"
	"gprof/decode"
	"gprof/stream"
)

// A chunk that its recorder has discarded may still be intact, because a copy was made just before
// its file was reused. Intact data from before the range start is converted. But of what was over
// by then nothing is shown, as if the file had been reused in time:
//
//   - a track or page that ended before the range start, unless held data mentions it again;
//   - a counter, which has no end, whose last value is from before.
//
// The position of each is the highest index handed out at that moment; it has expired if that is
// before the range start, strictly, as for exit profiles.

// contents is what rows of some chunks belong to, and when that ended.
type contents struct {
	tracks   map[string]stream.Time // ends by name, 0 if it has none
	counters map[stream.Counter]stream.Time
	pages    map[uint64]stream.Time // by window
}

// survey decodes some chunks of p for their contents.
func (p *Process) survey(images []*chunks.Image) (contents, error) {
	part := *p.Process
	part.Chunks, part.Problems = images, nil
	tables := &stream.Tables{Processes: []stream.Process{decode.Describe(&part, p.clock)}}
	src := decode.New(tables, []decode.Input{{Found: &part, ID: 1, Clock: p.clock}}, decode.Options{})
	defer src.Close()
	t := contents{map[string]stream.Time{}, map[stream.Counter]stream.Time{}, map[uint64]stream.Time{}}
	series := map[stream.TrackID]bool{}
	var b stream.Batch
	for {
		err := src.Next(&b)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return t, err
		}
		switch s := b.Series; {
		case b.Len() == 0:
		case s.Kind.Tracked():
			series[s.Track] = true
		case s.Kind == stream.Counts:
			row := tables.Counters.At(s.Counter)
			t.counters[row] = max(t.counters[row], slices.Max(b.Time))
		case s.Kind == stream.Pages:
			t.addPages(&b)
		}
	}
	for id := range series {
		if row := tables.Tracks.At(id); !row.Main {
			t.tracks[row.Name] = row.End
		}
	}
	return t, nil
}

func (t *contents) addPages(b *stream.Batch) {
	for i, at := range b.Time {
		window := windowOf(b, i)
		end := t.pages[window]
		if b.Phase[i] == stream.PhaseEnd {
			end = max(end, at)
		}
		t.pages[window] = end
	}
}

// windowOf is the window of a row of pages, see [stream.PageFields].
func windowOf(b *stream.Batch, i int) uint64 { return b.Args[1].BitsAt(i) }

// mark is the index that p had handed out by a moment, as far as its chunks tell.
func (p *Process) mark(at stream.Time) (mark uint64) {
	for _, im := range slices.Concat(p.Chunks, p.LeftOut) {
		if p.clock.At(im.Header.Open.Monotonic) <= at {
			mark = max(mark, im.End())
		}
	}
	return mark
}

// expiredRows is what has expired within the processes of a run, with names for the ledger.
type expiredRows struct {
	processes map[stream.ProcessID]string
	tracks    map[stream.TrackID]string
	counters  map[stream.CounterID]string
	pages     map[page]bool
}

type page struct {
	process stream.ProcessID
	window  uint64
}

// findExpiredRows searches all processes, in the order of the tables.
func findExpiredRows(processes []*Process, tables *stream.Tables) *expiredRows {
	g := &expiredRows{map[stream.ProcessID]string{}, map[stream.TrackID]string{}, map[stream.CounterID]string{}, map[page]bool{}}
	for i, p := range processes {
		g.look(p, stream.ProcessID(i+1), tables)
	}
	return g
}

// look adds what has expired in p. Only chunks from before the range start can hold such things;
// without them nothing is read.
func (g *expiredRows) look(p *Process, id stream.ProcessID, tables *stream.Tables) {
	held := slices.IndexFunc(p.Chunks, func(im *chunks.Image) bool { return im.End() > p.Held })
	if held < 0 {
		held = len(p.Chunks)
	}
	if held == 0 {
		return
	}
	was, err1 := p.survey(p.Chunks[:held])
	is, err2 := p.survey(p.Chunks[held:])
	if err1 != nil || err2 != nil { // decoding will tell; what is not known has not expired
		return
	}
	g.processes[id] = p.Name()
	for name, end := range was.tracks {
		if _, again := is.tracks[name]; !again && end != 0 && p.mark(end) < p.Held {
			g.tracks[tables.Tracks.Intern(stream.Track{Process: id, Name: name})] = name
		}
	}
	for row, last := range was.counters {
		if _, again := is.counters[row]; !again && p.mark(last) < p.Held {
			row.Process = id
			g.counters[tables.Counters.Intern(row)] = row.Name
		}
	}
	for window, end := range was.pages {
		if _, again := is.pages[window]; !again && end != 0 && p.mark(end) < p.Held {
			g.pages[page{id, window}] = true
		}
	}
}

// expiryFilter is a source without expired rows. It does not touch the tables until the end, since
// they are in use.
type expiryFilter struct {
	stream.Wrapper
	gone  *expiredRows
	lines stream.Ledger // what was left out
	kept  stream.Batch
}

// filter returns src without expired rows; a nil g is none.
func (g *expiredRows) filter(src stream.Source) stream.Source {
	if g == nil || len(g.tracks)+len(g.counters)+len(g.pages) == 0 {
		return src
	}
	return &expiryFilter{Wrapper: stream.Wrapper{Source: src}, gone: g}
}

// Next implements [stream.Source].
func (w *expiryFilter) Next(b *stream.Batch) error {
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

// sift removes rows from b.
func (w *expiryFilter) sift(b *stream.Batch) {
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

func (w *expiryFilter) drop(b *stream.Batch, what, name string) {
	w.count(b.Series.Process, what, name, int64(b.Len()))
	b.Reset(b.Series, 0)
}

func (w *expiryFilter) count(p stream.ProcessID, what, where string, n int64) {
	w.lines.Add(stream.Line{Process: w.gone.processes[p], Reason: stream.ReasonExpired, What: what, Where: where, Count: n})
}

func (w *expiryFilter) siftPages(b *stream.Batch) {
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
		k.AppendRows(b, i, i+1)
	}
	*b, *k = *k, *b
}

// finish amends the tables: an expired track is merged with the main track, and so hidden. Copy
// drops counters without rows.
func (w *expiryFilter) finish() {
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
