package symbolserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"gprof/cmd/internal/disassembly"
	"gprof/ingest/symbols"
	"gprof/stream"
)

// assemblyAnswer is the instructions of a function.
type assemblyAnswer struct {
	StartAddress string        `json:"startAddress"`
	Size         string        `json:"size"`
	Arch         string        `json:"arch"`
	Syntax       []string      `json:"syntax"`
	Instructions []instruction `json:"instructions"`
}

// instruction is written as its offset and, of each syntax, its text.
type instruction disassembly.Instruction

func (i instruction) MarshalJSON() ([]byte, error) { return json.Marshal([]any{i.Offset, i.Text}) }

func (s *Server) assembly(q request) (*assemblyAnswer, error) {
	id, m, err := s.module(q)
	if err != nil {
		return nil, err
	}
	if m.Build == "" {
		return nil, fmt.Errorf("%s: its build is unknown, so that none can be told to be it", m.Name)
	}
	at, err := place(q.StartAddress)
	if err != nil {
		return nil, err
	}
	code, err := s.programs.Code(m.Build, at)
	switch {
	case errors.Is(err, symbols.ErrNoCode):
		return nil, fmt.Errorf("%s: %w as build %s; --symbols says where it lies", m.Name, err, m.Build)
	case err != nil:
		return nil, fmt.Errorf("%s, %#x: %w", m.Name, at, err)
	}
	if err := s.checkPlaces(id, code); err != nil {
		return nil, fmt.Errorf("%s, %s: %w", m.Name, code.Name, err)
	}
	l, err := disassembly.Of(code)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name, err)
	}
	answer := &assemblyAnswer{StartAddress: fmt.Sprintf("%#x", code.Start), Size: fmt.Sprintf("%#x", l.Size), Arch: l.Arch, Syntax: []string{l.Syntax}}
	for _, i := range l.Instructions {
		answer.Instructions = append(answer.Instructions, instruction(i))
	}
	return answer, nil
}

// errOther is the error of code that is not what the recording has there.
var errOther = errors.New("the recording has another function there: its places are not those of the file")

// checkPlaces checks that the recording has places in a function. Profiles of other tools may count from where the
// program begins in memory: where that makes a difference, the function must have the name that it has there.
func (s *Server) checkPlaces(module stream.ModuleID, c *symbols.Code) error {
	err := errPlace
	for id := stream.FrameID(1); int(id) <= s.tables.Frames.Len(); id++ {
		f := s.tables.Frames.At(id)
		if f.Module != module || f.Label || f.Offset < c.Start || f.Offset >= c.End {
			continue
		}
		if name := s.tables.Strings.At(f.Function); !c.Shifted || f.Depth == 0 && sameName(name, c.Name) {
			return nil
		}
		err = errOther
	}
	return err
}

// sameName reports whether two tools may call one function so: one may add parameters.
func sameName(a, b string) bool {
	a, _, _ = strings.Cut(a, "(")
	b, _, _ = strings.Cut(b, "(")
	return a != "" && a == b
}
