package symbols

import (
	"strings"

	"gprof/ingest/internal/naming"
	"gprof/rawformat/callframe"
	"gprof/rawformat/kallsyms"
)

// maxCallFrames bounds the memory of all tables: those of a browser with its libraries have 50 MB.
const maxCallFrames = 512 << 20

// callFrames are the tables by which stacks are followed, by build id.
type callFrames struct {
	known map[string]naming.CallFrames
	size  int64
}

// CallFrames returns the table by which the calls of a build are followed. A program may have none,
// as those of Go have.
func (s *Set) CallFrames(build string) naming.CallFrames {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, known := s.calls.known[build]
	if known {
		return c
	}
	for _, f := range s.filesOf(build) {
		if c = s.readCallFrames(f); c.Given {
			break
		}
	}
	if s.calls.known == nil {
		s.calls.known = map[string]naming.CallFrames{}
	}
	s.calls.known[build] = c
	return c
}

// readCallFrames reads the table of a file, if that has its program's code.
func (s *Set) readCallFrames(f file) (c naming.CallFrames) {
	if _, list := madeBy(f.name); list || isKernelList(f.name) || f.holds == onlyNames {
		return c
	}
	in, err := openELF(f.name)
	if err != nil {
		return c
	}
	defer in.Close()
	t, err := callframe.Read(in)
	if err != nil {
		return naming.CallFrames{Given: true}
	}
	if s.calls.size += t.Size(); s.calls.size > maxCallFrames {
		s.calls.size -= t.Size()
		return c
	}
	return naming.CallFrames{Given: true, Table: t}
}

func isKernelList(name string) bool { return strings.HasSuffix(name, "/"+kallsyms.Name) }
