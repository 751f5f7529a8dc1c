package terminal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"unicode/utf8"

	"github.com/gdamore/tcell/v3"

	"gprof/convert/internal/course"
)

// ErrTerminal is the error of a terminal that can't show a graph.
var ErrTerminal = errors.New("this terminal can't show a graph")

// Check reports, as an [ErrTerminal], that this process has no terminal, or one that can't show a graph.
func Check() error {
	if name := os.Getenv("TERM"); name == "dumb" || name == "" && runtime.GOOS != "windows" {
		return fmt.Errorf("%w: TERM=%s knows no positions", ErrTerminal, name)
	}
	tty, err := tcell.NewDevTty()
	if err != nil {
		return fmt.Errorf("%w: there is none: %w", ErrTerminal, err)
	}
	tty.Close()
	return nil
}

// Show shows a run in the terminal of this process until the person quits or ctx is done. The error is an
// [ErrTerminal].
func Show(ctx context.Context, r *Run) error {
	if err := Check(); err != nil {
		return err
	}
	screen, err := tcell.NewScreen()
	if err == nil {
		err = screen.Init()
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrTerminal, err)
	}
	defer screen.Fini()
	show(ctx, screen, r)
	return nil
}

// show draws, and follows events.
func show(ctx context.Context, screen tcell.Screen, r *Run) {
	s := newState(r)
	for {
		draw(screen, s)
		select {
		case <-ctx.Done():
			return
		case event, open := <-screen.EventQ():
			if !open || s.follow(screen, event) {
				return
			}
		}
	}
}

// follow does what an event asks for, and reports whether that is to quit.
func (s *state) follow(screen tcell.Screen, event tcell.Event) (quit bool) {
	switch e := event.(type) {
	case *tcell.EventResize:
		screen.Sync()
	case *tcell.EventError: // the terminal is gone
		return true
	case *tcell.EventKey:
		switch {
		case e.Key() == tcell.KeyCtrlC:
			return true
		case s.help:
			s.help = false
		case s.typing:
			s.typeKey(e)
		case e.Key() == tcell.KeyRune:
			return s.letter(e.Str())
		default:
			s.key(e.Key())
		}
	}
	return false
}

// maxQuery bounds a regular expression, in bytes.
const maxQuery = 200

// typeKey edits the query.
func (s *state) typeKey(e *tcell.EventKey) {
	switch e.Key() {
	case tcell.KeyEnter:
		s.typing = false
		s.selectMatch(0)
		return
	case tcell.KeyEscape:
		s.typing, s.query = false, ""
	case tcell.KeyBackspace, tcell.KeyDEL:
		_, size := utf8.DecodeLastRuneInString(s.query)
		s.query = s.query[:len(s.query)-size]
	case tcell.KeyRune:
		if len(s.query)+len(e.Str()) <= maxQuery {
			s.query += e.Str()
		}
	}
	s.search()
}

func (s *state) letter(key string) (quit bool) {
	switch key {
	case "q":
		return true
	case "?":
		s.help = true
	case "/":
		s.typing, s.query = true, ""
		s.search()
	case "n":
		s.selectMatch(s.selected)
	case "p":
		s.nextProcess(1)
	case "P":
		s.nextProcess(-1)
	case "o":
		s.nextBasis()
	case "+", "=":
		s.span(true)
	case "-":
		s.span(false)
	case "<", ",":
		s.shift(-1)
	case ">", ".":
		s.shift(1)
	case "0":
		s.root, s.selected = 0, 0
		s.place(0, course.Slots)
	case "h":
		s.move(0, -1)
	case "j":
		s.move(-1, 0)
	case "k":
		s.move(1, 0)
	case "l":
		s.move(0, 1)
	}
	return false
}

func (s *state) key(key tcell.Key) {
	switch key {
	case tcell.KeyUp:
		s.move(1, 0)
	case tcell.KeyDown:
		s.move(-1, 0)
	case tcell.KeyLeft:
		s.move(0, -1)
	case tcell.KeyRight:
		s.move(0, 1)
	case tcell.KeyEnter:
		s.zoom(true)
	case tcell.KeyEscape, tcell.KeyBackspace, tcell.KeyDEL:
		s.zoom(false)
	}
}
