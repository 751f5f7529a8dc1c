package console

import (
	"fmt"
	"io"
	"strings"
	"time"

	"gprof/cmd/internal/human"
	"gprof/cmd/internal/progress"
	"gprof/stream"
	"gprof/stream/wording"
)

// Bar shows a person how far a run has come: by a bar on a terminal, else by a line now
// and then.
type Bar struct {
	program string    // its name, before each line
	w       io.Writer // nil: silent
	bar     bool
	width   int // of a line of the terminal; 0: unknown
	now     func() time.Time
	gauge   progress.Gauge
	begin   time.Time
	last    time.Time // something was shown, or begin
	drawn   bool      // the bar is there
}

const (
	redraw = 100 * time.Millisecond // of the bar
	repeat = 10 * time.Second       // of a line

	// settled is the time at the beginning of a run, or phase, that does not tell yet how
	// fast it is or how long the rest will take.
	settled = time.Second
)

func (c *Console) NewBar(quiet bool) *Bar {
	p := &Bar{program: c.program, w: c.Stderr, bar: c.visible, width: columns(c.Stderr), now: time.Now}
	if quiet {
		p.w = nil
	}
	p.begin = p.now()
	p.last = p.begin
	return p
}

// Logger is the logger of the whole run.
func (p *Bar) Logger() *progress.Logger { return progress.New(&p.gauge, "", "") }

// Task is the task of a run that has only one.
func (p *Bar) Task() *task { return &task{Bar: p, whole: p.Logger()} }

// Count shows that so many things of some are done, and text.
func (p *Bar) Count(done, of int, text string) {
	progress.New(&p.gauge, "", "").Set(progress.Ratio(int64(done), int64(of)), "")
	p.Tell(text + p.Left())
}

// End removes the bar.
func (p *Bar) End() {
	if p.drawn {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.drawn = false
	}
}

// task is the progress of one Copy: reading is the first half of it.
type task struct {
	*Bar
	whole *progress.Logger // of this Copy
	part  *progress.Logger // of its phase
	phase string
	begin time.Time // of the phase
}

// PhasePacking is the only phase of a run that packs; it counts bytes.
const PhasePacking = "packing"

// Show is called with the progress of a phase: done and total are bytes while reading,
// rows while writing.
func (t *task) Show(done, total int64, phase string) {
	if phase != t.phase {
		t.enter(phase)
	}
	t.part.Set(progress.Ratio(done, total), "")
	t.Tell(strings.TrimSpace(t.rate(done) + t.Left()))
}

// rate is how much is done in a second, "" at the beginning of a phase.
func (t *task) rate(done int64) string {
	spent := t.now().Sub(t.begin)
	if spent < settled {
		return ""
	}
	return formatRate(t.phase, int64(float64(done)/spent.Seconds())) + "/s"
}

// Tell shows the gauge, followed by text, unless that was done a moment ago.
func (p *Bar) Tell(text string) {
	if p.w == nil || p.now().Sub(p.last) < p.interval() {
		return
	}
	p.last = p.now()
	if text != "" {
		text += "  "
	}
	if text += wording.Printable(p.gauge.Place()); p.bar {
		p.draw(text)
	} else {
		fmt.Fprintf(p.w, "%s: %s  %s\n", p.program, percent(p.gauge.Value()), text)
	}
}

func (t *task) enter(phase string) {
	t.phase, t.begin = phase, t.now()
	switch phase {
	case PhasePacking:
		t.part = t.whole.Part(0, progress.Whole, phase, "")
	case stream.PhaseReading:
		t.part = t.whole.Part(0, progress.Percent(50), phase, "")
	default:
		t.part = t.whole.Part(progress.Percent(50), progress.Whole, phase, "")
	}
}

func (p *Bar) interval() time.Duration {
	if p.bar {
		return redraw
	}
	return repeat
}

// Left is how long the run will take from now on, at its speed so far.
func (p *Bar) Left() string {
	done, spent := p.gauge.Value(), p.now().Sub(p.begin)
	if done == 0 || !done.Known() || spent < settled {
		return ""
	}
	left := time.Duration(float64(spent) * progress.Whole.Minus(done).Float() / done.Float())
	return fmt.Sprintf("  %v left", left.Round(time.Second))
}

// draw draws the bar, followed by text.
func (p *Bar) draw(text string) {
	const width = 30
	full := 0
	if v := p.gauge.Value(); v.Known() {
		full = int(width * v.Float())
	}
	p.drawn = true
	line := fmt.Sprintf("[%s%s] %s  %s", strings.Repeat("=", full), strings.Repeat(" ", width-full), percent(p.gauge.Value()), text)
	fmt.Fprint(p.w, "\r\x1b[K"+p.fit(line))
}

// fit cuts a line that the terminal would break in two, of which only the second could be
// drawn over.
func (p *Bar) fit(line string) string {
	runes := []rune(line)
	if p.width == 0 || len(runes) < p.width {
		return line
	}
	return string(runes[:p.width-1])
}

func percent(p progress.Proportion) string {
	if !p.Known() {
		return "  ? %"
	}
	return fmt.Sprintf("%3.0f %%", 100*p.Float())
}

func formatRate(phase string, rate int64) string {
	if phase == stream.PhaseWriting {
		return fmt.Sprintf("%d rows", rate)
	}
	return human.Bytes(rate)
}
