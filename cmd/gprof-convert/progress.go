package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"gprof/stream"
)

// progress is a bar on a terminal: how far, how fast, how long still. On
// anything else it is silent.
type progress struct {
	w     io.Writer // nil: silent
	phase string
	begin time.Time // of the phase
	last  time.Time
	drawn bool
}

const redraw = 100 * time.Millisecond

func (s *streams) newProgress(quiet bool) *progress {
	if quiet || !s.visible {
		return &progress{}
	}
	return &progress{w: s.stderr}
}

// show draws the bar; done and total are bytes while reading, rows while
// writing.
func (p *progress) show(done, total int64, phase string) {
	if phase != p.phase {
		p.phase, p.begin = phase, time.Now()
	}
	if p.w == nil || total == 0 || time.Since(p.last) < redraw {
		return
	}
	p.last, p.drawn = time.Now(), true
	const width = 30
	full := int(width * done / total)
	spent := time.Since(p.begin)
	rate := float64(done) / spent.Seconds()
	left := time.Duration(float64(total-done) / max(rate, 1) * float64(time.Second)).Round(time.Second)
	fmt.Fprintf(p.w, "\r\x1b[K%s [%s%s] %3d %%  %s/s  %v left", phase, strings.Repeat("=", full), strings.Repeat(" ", width-full),
		100*done/total, formatRate(phase, int64(rate)), left)
}

func formatRate(phase string, rate int64) string {
	if phase == stream.PhaseWriting {
		return fmt.Sprintf("%d rows", rate)
	}
	return formatBytes(rate)
}

// clear takes the bar away.
func (p *progress) clear() {
	if p.drawn {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
