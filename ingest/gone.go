package ingest

import (
	"errors"
	"io"
	"slices"

	"gprof/chunks"
	"gprof/decode"
	"gprof/stream"
)

// A chunk that its recorder has discarded may still lie there, whole: a copy
// was made just before its file was used again. What is intact is converted,
// also from before the process' range start. But of what was over by then,
// nothing is shown, as if the file had been reused in time:
//
//   - a track or a page that ended, when the process had handed out no index
//     that it still holds, unless what it holds tells of it again;
//   - a counter, which has no end, whose last value is from such a time.
//
// The position of each is the hand-out mark at that moment, and the rule is
// that of exit profiles: expired if it lies before the range start, strictly.

// things are what the rows of some chunks belong to, and when it ended.
type things struct {
	tracks   map[string]stream.Time // by name: the end, 0 if it has none
	counters map[stream.Counter]stream.Time
	pages    map[uint64]stream.Time // by window
}

// survey decodes some chunks of p for what is in them.
func (p *Process) survey(images []*chunks.Image) (things, error) {
	part := *p.Process
	part.Chunks, part.Problems = images, nil
	tables := &stream.Tables{Processes: []stream.Process{decode.Describe(&part, p.clock)}}
	src := decode.New(tables, []decode.Input{{Found: &part, ID: 1, Clock: p.clock}}, decode.Options{})
	defer src.Close()
	t := things{map[string]stream.Time{}, map[stream.Counter]stream.Time{}, map[uint64]stream.Time{}}
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

func (t *things) addPages(b *stream.Batch) {
	for i, at := range b.Time {
		window := windowOf(b, i)
		end := t.pages[window]
		if b.Phase[i] == stream.PhaseEnd {
			end = max(end, at)
		}
		t.pages[window] = end
	}
}

// windowOf is the window of a row of pages; see [stream.PageFields].
func windowOf(b *stream.Batch, i int) uint64 { return b.Args[1].BitsAt(i) }

// mark is the index that p had handed out by a moment, as far as its chunks
// tell.
func (p *Process) mark(at stream.Time) (mark uint64) {
	for _, im := range slices.Concat(p.Chunks, p.LeftOut) {
		if p.clock.At(im.Header.Open.Monotonic) <= at {
			mark = max(mark, im.End())
		}
	}
	return mark
}

// gone is what has expired of the processes of a run, with the names that the
// ledger needs.
type gone struct {
	processes map[stream.ProcessID]string
	tracks    map[stream.TrackID]string
	counters  map[stream.CounterID]string
	pages     map[page]bool
}

type page struct {
	process stream.ProcessID
	window  uint64
}

// whatIsGone looks for it in all processes; they are in the order of the tables.
func whatIsGone(processes []*Process, tables *stream.Tables) *gone {
	g := &gone{map[stream.ProcessID]string{}, map[stream.TrackID]string{}, map[stream.CounterID]string{}, map[page]bool{}}
	for i, p := range processes {
		g.look(p, stream.ProcessID(i+1), tables)
	}
	return g
}

// look adds what of p has expired. Only chunks from before the range start can
// hold such things; without them nothing is read.
func (g *gone) look(p *Process, id stream.ProcessID, tables *stream.Tables) {
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
