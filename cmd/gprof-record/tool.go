package main

import (
	"errors"
	"io"
	"io/fs"

	"gprof/cmd/internal/console"
	"gprof/recorder/attach"
)

// tool is the command: what it says goes to its console. Standard input and output are
// handed to the recorded command as they are.
type tool struct {
	*console.Console
	stdout io.Writer
}

// end says what went wrong, and what would help, and returns the exit code.
func (s *tool) end(err error) int {
	code := s.End(err)
	if errors.Is(err, fs.ErrPermission) && !errors.As(err, new(*attach.Refusal)) {
		s.Hint("a session is its owner's alone; go on as that user or with sudo, or record with GPROF_GROUP_ACCESS=on")
	}
	s.hint(err)
	return code
}
