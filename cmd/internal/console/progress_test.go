package console

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"gprof/stream"
)

// clock is a time that a test sets.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

// watch shows the progress of a conversion that takes 40 s and reports every 50 ms.
func watch(p *Bar, c *clock) {
	task := p.Task()
	for _, phase := range []string{stream.PhaseReading, stream.PhaseWriting} {
		for i := range int64(401) {
			task.Show(i*1000, 400_000, phase)
			c.at = c.at.Add(50 * time.Millisecond)
		}
	}
	p.End()
}

func TestProgressLines(t *testing.T) {
	var out bytes.Buffer
	c := &clock{time.Unix(1e9, 0)}
	watch(&Bar{program: "gprof-convert", w: &out, now: c.now, begin: c.at, last: c.at}, c)
	want := `gprof-convert:  25 %  19.5 KiB/s  30s left  reading
gprof-convert:  50 %  19.5 KiB/s  20s left  reading
gprof-convert:  75 %  20000 rows/s  10s left  writing
gprof-convert: 100 %  20000 rows/s  0s left  writing
`
	if got := out.String(); got != want {
		t.Errorf("lines:\n%swant:\n%s", got, want)
	}
}

func TestProgressBar(t *testing.T) {
	var out bytes.Buffer
	c := &clock{time.Unix(1e9, 0)}
	watch(&Bar{program: "gprof-convert", w: &out, bar: true, now: c.now, begin: c.at, last: c.at}, c)
	drawn := strings.Split(out.String(), "\r\x1b[K")
	if n := len(drawn); n < 350 || n > 450 {
		t.Errorf("drawn %d times in 40 s", n)
	}
	if want := "[=======                       ]  25 %  19.5 KiB/s  30s left  reading"; !strings.Contains(out.String(), want) {
		t.Errorf("%q was never drawn", want)
	}
	if drawn[len(drawn)-1] != "" {
		t.Errorf("at the end %q is left", drawn[len(drawn)-1])
	}
}

// A bar that is wider than the terminal could not be drawn over.
func TestProgressBarFits(t *testing.T) {
	var out bytes.Buffer
	c := &clock{time.Unix(1e9, 0)}
	watch(&Bar{program: "gprof-convert", w: &out, bar: true, width: 50, now: c.now, begin: c.at, last: c.at}, c)
	if !strings.Contains(out.String(), "[=======                       ]  25 %  19.5 KiB/") {
		t.Errorf("no bar: %q", out.String())
	}
	for _, line := range strings.Split(out.String(), "\r\x1b[K") {
		if len(line) >= 50 {
			t.Fatalf("%d characters: %q", len(line), line)
		}
	}
}

func TestProgressQuiet(t *testing.T) {
	c := &clock{time.Unix(1e9, 0)}
	watch(&Bar{now: c.now, begin: c.at, last: c.at}, c)
}

// The first rows of a phase come at once and do not tell how fast it is.
func TestProgressBegins(t *testing.T) {
	var out bytes.Buffer
	c := &clock{time.Unix(1e9, 0)}
	task := (&Bar{program: "gprof-convert", w: &out, bar: true, now: c.now, begin: c.at.Add(-time.Minute), last: c.at.Add(-time.Minute)}).Task()
	task.Show(1<<18, 1<<20, stream.PhaseWriting)
	if got, want := out.String(), "]  62 %  36s left  writing"; !strings.HasSuffix(got, want) {
		t.Errorf("%q, want %q at its end", got, want)
	}
}

// The size of the input may be unknown.
func TestProgressUnknown(t *testing.T) {
	var out bytes.Buffer
	c := &clock{time.Unix(1e9, 0)}
	p := &Bar{program: "gprof-convert", w: &out, now: c.now, begin: c.at, last: c.at}
	task := p.Task()
	task.Show(1<<20, 0, stream.PhaseReading)
	c.at = c.at.Add(20 * time.Second)
	task.Show(40<<20, 0, stream.PhaseReading)
	if got, want := out.String(), "gprof-convert:   ? %  2.0 MiB/s  reading\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
