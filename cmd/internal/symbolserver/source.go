package symbolserver

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gprof/cmd/internal/source"
	"gprof/stream"
)

// sourceAnswer is the text of a file. When programs and sources changed has a place in the protocol, but is not
// asked for.
type sourceAnswer struct {
	SymbolsLastModified *string `json:"symbolsLastModified"`
	SourceLastModified  *string `json:"sourceLastModified"`
	File                string  `json:"file"`
	Source              string  `json:"source"`
}

func (s *Server) source(q request) (*sourceAnswer, error) {
	id, _, err := s.module(q)
	if err != nil {
		return nil, err
	}
	functions := s.functions(id, q.File)
	if functions == nil {
		return nil, errFile
	}
	text, err := s.finder.Find(q.File, functions...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", q.File, err)
	}
	if text.Note != "" {
		s.note(text)
	}
	return &sourceAnswer{File: q.File, Source: strings.Join(text.Lines, "\n")}, nil
}

// functions are those that the recording has of a file, in one module: another build's may be elsewhere in it.
func (s *Server) functions(module stream.ModuleID, file string) []source.Function {
	type key struct {
		name  stream.StringID
		start int32
	}
	last := map[key]int32{}
	for id := stream.FrameID(1); int(id) <= s.tables.Frames.Len(); id++ {
		if f := s.tables.Frames.At(id); f.Module == module && f.File != 0 && s.tables.Strings.At(f.File) == file {
			k := key{f.Function, f.Start}
			last[k] = max(last[k], f.Line)
		}
	}
	var all []source.Function
	for k, line := range last {
		all = append(all, source.Function{Name: s.tables.Strings.At(k.name), Start: int(k.start), Last: int(line)})
	}
	slices.SortFunc(all, func(a, b source.Function) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// note passes on once what is doubtful about a file.
func (s *Server) note(text *source.Text) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.told[text.Path] {
		s.told[text.Path] = true
		s.o.Warn(fmt.Errorf("%s %s", text.Path, text.Note))
	}
}
