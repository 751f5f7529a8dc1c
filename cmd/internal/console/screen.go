package console

import (
	"bytes"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// Screen shows texts that replace each other: on a terminal in place, elsewhere one after the other.
type Screen struct {
	out    io.Writer
	file   *os.File // the terminal; nil: none
	text   bytes.Buffer
	shown  bool // there was a text before
	inside bool // the terminal's second screen is shown

	keys   *os.File // what is typed; nil: that is no terminal's
	before *term.State
	quit   chan struct{}
}

// Screen returns one on standard output. Unless replace is set, or on a terminal that can't, its texts stand one
// after the other.
func (c *Console) Screen(replace bool) *Screen {
	s := &Screen{out: c.Stdout, quit: make(chan struct{})}
	if f, ok := c.Stdout.w.(*os.File); ok && replace && term.IsTerminal(int(f.Fd())) && !dumb() {
		s.file = f
		if IsTerminal(c.Stdin) {
			s.keys = c.Stdin.(*os.File)
		}
	}
	return s
}

// Quit is closed when a person has typed q or Ctrl-C.
func (s *Screen) Quit() <-chan struct{} { return s.quit }

// listen has what is typed come at once, and not be shown between the texts or left for the shell.
func (s *Screen) listen() {
	var err error
	if s.keys == nil {
		return
	} else if s.before, err = term.MakeRaw(int(s.keys.Fd())); err != nil {
		return
	}
	go func() {
		const ctrlC = 3
		for key := []byte{0}; key[0] != 'q' && key[0] != ctrlC; {
			if _, err := s.keys.Read(key); err != nil { // the terminal is gone
				break
			}
		}
		close(s.quit)
	}()
}

// dumb reports whether the terminal knows no sequences.
func dumb() bool {
	name := os.Getenv("TERM")
	return name == "" || name == "dumb"
}

// Begin begins a text.
func (s *Screen) Begin() { s.text.Reset() }

// Write adds to the text. What may steer a terminal must not be in it.
func (s *Screen) Write(p []byte) (int, error) { return s.text.Write(p) }

// Sequences that all terminals but dumb ones know.
const (
	enter     = "\x1b[?1049h\x1b[?25l" + unwrapped // the second screen, without a cursor
	leave     = wrapped + "\x1b[?25h\x1b[?1049l"
	unwrapped = "\x1b[?7l" // what follows is cut at the edge
	wrapped   = "\x1b[?7h"
	home      = "\x1b[H"
	clearRest = "\x1b[J"
)

// Flush shows the text. On a terminal, lines without room at the bottom are left out.
func (s *Screen) Flush() error {
	text := s.text.String()
	switch {
	case s.file == nil:
		if s.shown {
			text = "\n" + text
		}
	default:
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		if width, height, err := term.GetSize(int(s.file.Fd())); err == nil && height > 0 {
			lines = lines[:min(height, len(lines))]
			for i, line := range lines {
				runes := []rune(line)
				lines[i] = string(runes[:min(width, len(runes))])
			}
		}
		text = home + clearRest + strings.Join(lines, "\r\n")
		if !s.inside {
			text = enter + text
			s.listen()
		}
		s.inside = true
	}
	s.shown = true
	_, err := io.WriteString(s.out, text)
	return err
}

// Close leaves the terminal as it was.
func (s *Screen) Close() {
	if s.inside {
		io.WriteString(s.out, leave)
	}
	if s.before != nil {
		term.Restore(int(s.keys.Fd()), s.before)
	}
}
