package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// progress is a bar on a terminal: how far, how fast, how long still. On
// anything else it is silent.
type progress struct {
	w     io.Writer // nil: silent
	begin time.Time
	last  time.Time
	drawn bool
}

const redraw = 100 * time.Millisecond

func newProgress(w io.Writer, quiet bool) *progress {
	if quiet || !isTerminal(w) {
		return &progress{}
	}
	return &progress{w: w, begin: time.Now()}
}

// show draws the bar; done and total are bytes.
func (p *progress) show(done, total int64, phase string) {
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
		100*done/total, formatBytes(int64(rate)), left)
}

// clear takes the bar away.
func (p *progress) clear() {
	if p.drawn {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
