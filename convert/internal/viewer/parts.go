package viewer

import (
	"strconv"
	"time"

	"gprof/convert/internal/jsontext"
	"gprof/stream"
)

// jankNanos is from which delay on the viewer shows a Jank marker.
const jankNanos = int64(50 * time.Millisecond)

// JankType is the type of these markers: the viewer has its own schema for it, and
// shows what has it in the header of a track.
const JankType = "Jank"

// DelayName is the name of these markers: the viewer's own for a browser, whose event
// loop was late. In a Go program it is the scheduler.
func DelayName(p *stream.Process) string {
	if p.Go != "" {
		return "scheduler delay"
	}
	return JankType
}

// Jank finds the Jank markers in the delays of a thread. Delays grow while a
// thread is busy, so the last one before they fall tells how long it was.
//
// The viewer would derive the same markers from a column of the samples. But
// delays come when the samples are written, and only for these few intervals
// the column would have to be kept.
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

// End calls mark if the last delay was long enough, and forgets it.
func (j *Jank) End(mark func(start, end stream.Time)) {
	last := *j
	*j = Jank{}
	if last.nanos >= jankNanos {
		mark(last.at-stream.Time(last.nanos), last.at)
	}
}

// Pauses writes ranges in which nothing was recorded, as elements of a list. A
// range that was open at either end has null there.
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

// Rows writes the ranges that end in b. It returns how many rows have a reason
// that nobody knows; these are left out.
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

// End writes what is still paused.
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
	member(p.Out, "reason", pauseReasons[reason])
	p.Out.EndObject()
	p.open[reason] = false
}

// Pages writes the pages of a process, each once, as elements of a list. The
// formats do not say when a page was open.
type Pages struct {
	Pid string // that each page names, in a list of several processes; "" is none

	place  map[int64]int // by window: of a blank page in blanks, else written
	blanks []page
}

type page struct {
	tab, window, embedder int64
	private               bool
	url                   string
}

const (
	blankURL = "about:blank" // what a window shows until its page comes
	written  = -1
)

// Rows writes the pages of b that are new. Of a window's pages the first one
// counts, but for a blank one, which makes way and so waits.
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
		member(out, "pid", pid)
	}
	number(out, "tabID", p.tab)
	number(out, "innerWindowID", p.window)
	member(out, "url", p.url)
	number(out, "embedderInnerWindowID", p.embedder)
	out.Key("isPrivateBrowsing")
	out.Bool(p.private)
	out.EndObject()
}

// logLevels are the names of the levels.
var logLevels = [...]string{stream.LogInfo: "info", stream.LogWarn: "warning", stream.LogError: "error"}

// WriteLogs writes what the recorder had to say, as elements of a list.
func WriteLogs(out *jsontext.Writer, b *stream.Batch, start stream.Time) {
	for i, at := range b.Time {
		level := strconv.FormatInt(b.Value[i], 10)
		if n := b.Value[i]; 0 <= n && int(n) < len(logLevels) {
			level = logLevels[n]
		}
		out.BeginObject()
		moment(out, "time", at-start, true)
		member(out, "level", level)
		member(out, "text", text(&b.Args[0], i))
		out.EndObject()
	}
}
