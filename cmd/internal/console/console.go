// Package console is how a command talks to the person who runs it: messages, exit codes,
// a progress bar, interrupts.
package console

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"golang.org/x/term"

	"gprof/cmd/internal/output"
	"gprof/stream/wording"
)

// Exit codes, the same for all commands.
const (
	OK     = 0
	Failed = 1 // failed, or the input is damaged
	Usage  = 2
	Lossy  = 3 // --strict, and something was lost
	Limit  = 4 // a --fail-if was hit
	Again  = 5 // the machine failed, not the input: disk, memory; another try may work
)

// Console is what a command reads and writes besides files. Stdout is data only;
// stderr is for people.
type Console struct {
	program  string // its name, which begins each message
	Stdin    io.Reader
	Stdout   *checkedWriter
	Stderr   io.Writer
	terminal bool // stdout is a terminal
	visible  bool // stderr is a terminal

	Outputs *output.Set // of this run
	Calm    shutdown
}

func New(program string, stdin io.Reader, stdout, stderr io.Writer) *Console {
	c := &Console{program: program, Stdin: stdin, Stdout: &checkedWriter{w: stdout}, Stderr: stderr, terminal: IsTerminal(stdout), visible: IsTerminal(stderr)}
	c.Stdout.unread = c.unread
	c.Outputs = &output.Set{Stdout: c.Stdout, Terminal: c.terminal}
	return c
}

// checkedWriter keeps the first error of writing, so that a command that prints a table
// does not miss that the disk behind stdout is full.
type checkedWriter struct {
	w      io.Writer
	Err    error
	unread func() // called when the reader of a pipe is gone; may be nil
}

func (c *checkedWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	if c.unread != nil && errors.Is(err, syscall.EPIPE) {
		c.unread()
	}
	if c.Err == nil {
		c.Err = err
	}
	return n, err
}

// exitError is an error with an exit code of its own; err may be nil.
type exitError struct {
	code int
	err  error
}

// HasCode reports whether an error has an exit code of its own.
func HasCode(err error) bool {
	var e *exitError
	return errors.As(err, &e)
}

// Exit returns an error with an exit code. If err is nil the message was printed already.
func Exit(code int, err error) error { return &exitError{code, err} }

func (e *exitError) Error() string { return fmt.Sprint(e.err) }
func (e *exitError) Unwrap() error { return e.err }

// End prints the error and returns the exit code.
func (c *Console) End(err error) int {
	if err == nil {
		return OK
	}
	code := Failed
	var e *exitError
	if errors.As(err, &e) {
		code, err = e.code, e.err
	}
	if err != nil {
		c.problem("error", err)
	}
	return code
}

// Warn prints an error that does not end the command.
func (c *Console) Warn(err error) { c.problem("warning", err) }

func (c *Console) problem(word string, err error) { c.Say(word + ": " + err.Error()) }

// Hint prints what to do; "" prints nothing.
func (c *Console) Hint(text string) {
	if text != "" {
		c.Say("hint: " + text)
	}
}

// Say prints lines for a person, none of which can steer the terminal.
func (c *Console) Say(text string) {
	for line := range strings.SplitSeq(c.program+": "+text, "\n") {
		fmt.Fprintln(c.Stderr, wording.Printable(line))
	}
}

// Width is the number of characters in a line of stdout, 0 if it is no terminal.
func (c *Console) Width() int {
	return columns(c.Stdout.w)
}

// columns is the number of characters in a line of w, 0 if it is no terminal.
func columns(w any) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

func IsTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
