package viewer

import (
	"time"

	"gprof/convert/internal/jsontext"
	"gprof/stream"
)

// jankNanos is the delay from which the viewer shows a Jank marker.
const jankNanos = int64(50 * time.Millisecond)

// JankType is the type of these markers: the viewer has a schema for it, and shows them in the
// header of a track.
const JankType = "Jank"

// DelayName is the name of these markers: the viewer's own for a browser's event loop. In a Go
// program it is the scheduler that was late.
func DelayName(p *stream.Process) string {
	if p.Go != "" {
		return "scheduler delay"
	}
	return JankType
}

// Jank finds the Jank markers in a thread's delays. Delays grow while a thread is busy, so the last
// one before a fall is the duration. The viewer would derive the same from a column of the samples,
// but delays come after the samples, and the column would have to be kept just for these.
type Jank struct {
	at    stream.Time
	nanos int64
}

// Rows takes delays, and calls mark for each marker.
func (j *Jank) Rows(b *stream.Batch, mark func(start, end stream.Time)) {
	for i, at := range b.Time {
		if b.Value[i] < j.nanos {
			j.End(mark)
		}
		*j = Jank{at, b.Value[i]}
	}
}

// End calls mark if the last delay was long enough.
func (j *Jank) End(mark func(start, end stream.Time)) {
	last := *j
	*j = Jank{}
	if last.nanos >= jankNanos {
		mark(last.at-stream.Time(last.nanos), last.at)
	}
}

// Pauses writes ranges without recording as elements of a list. An open end is null.
type Pauses struct {
	Out   *jsontext.Writer
	Start stream.Time // 0 of the output

	since [3]stream.Time // by reason, if open
	open  [3]bool
}

// pauseReasons are the names of the reasons.
var pauseReasons = [3]string{
	stream.PausedAll:        "profiler-paused",
	stream.PausedSampling:   "sampling-paused",
	stream.PausedCollecting: "collecting",
}

// Rows writes the ranges that end in b. It returns the number of rows with an unknown reason, which
// are dropped.
func (p *Pauses) Rows(b *stream.Batch) (unknown int64) {
	for i, at := range b.Time {
		reason := b.Value[i]
		if reason < 0 || int(reason) >= len(pauseReasons) {
			unknown++
			continue
		}
		switch b.Phase[i] {
		case stream.PhaseStart: // of two in a row the later one counts
			p.since[reason], p.open[reason] = at, true
		case stream.PhaseEnd:
			p.write(reason, at, true)
		case stream.Interval:
			p.since[reason], p.open[reason] = at, true
			p.write(reason, at+stream.Time(b.Duration[i]), true)
		}
	}
	return unknown
}

// End writes open pauses.
func (p *Pauses) End() {
	for reason, open := range p.open {
		if open {
			p.write(int64(reason), 0, false)
		}
	}
}

func (p *Pauses) write(reason int64, end stream.Time, ended bool) {
	p.Out.BeginObject()
	moment(p.Out, "startTime", p.since[reason]-p.Start, p.open[reason])
	moment(p.Out, "endTime", end-p.Start, ended)
	p.Out.Member("reason", pauseReasons[reason])
	p.Out.EndObject()
	p.open[reason] = false
}

// Pages writes the pages of a process, each once, as elements of a list. The formats don't say when
// a page was open.
type Pages struct {
	Pid string // named by each page in a list of several processes; "" for none

	place  map[int64]int // by window: index in blanks of a blank page, or written
	blanks []page
}

type page struct {
	tab, window, embedder int64
	private               bool
	url                   string
}

const (
	blankURL = "about:blank" // blankURL is shown by a window until its page comes.
	written  = -1
)

// Rows writes the new pages of b. A window's first page counts, except that a blank one gives way
// and so waits.
func (p *Pages) Rows(out *jsontext.Writer, b *stream.Batch) {
	if p.place == nil {
		p.place = make(map[int64]int)
	}
	for i := range b.Time {
		if b.Phase[i] == stream.PhaseEnd {
			continue
		}
		row := page{integer(&b.Args[0], i), integer(&b.Args[1], i), integer(&b.Args[2], i), integer(&b.Args[3], i) != 0, text(&b.Args[4], i)}
		at, known := p.place[row.window]
		switch {
		case row.url != blankURL && (!known || at != written):
			p.place[row.window] = written
			row.write(out, p.Pid)
		case !known:
			p.place[row.window] = len(p.blanks)
			p.blanks = append(p.blanks, row)
		}
	}
}

// End writes the pages that stayed blank.
func (p *Pages) End(out *jsontext.Writer) {
	for i := range p.blanks {
		if row := &p.blanks[i]; p.place[row.window] != written {
			row.write(out, p.Pid)
		}
	}
}

func (p *page) write(out *jsontext.Writer, pid string) {
	out.BeginObject()
	if pid != "" {
		out.Member("pid", pid)
	}
	out.Number("tabID", p.tab)
	out.Number("innerWindowID", p.window)
	out.Member("url", p.url)
	out.Number("embedderInnerWindowID", p.embedder)
	out.Flag("isPrivateBrowsing", p.private)
	out.EndObject()
}
