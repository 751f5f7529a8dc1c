// Package symbolserver answers what the source and assembly views of Firefox Profiler ask for.
//
// The viewer knows places in programs, and names of files. It asks the server that its URL names, by POST
// requests of JSON, with a program by its debug name and id:
//
//   - /source/v1: the text of a source file;
//   - /asm/v1: the instructions of the function at an address, which is a place in the program's file, as in
//     profiles of ours.
//
// An error is JSON, too, with a text that the viewer shows.
//
// Only what the recording has is answered: files of functions that it names, and functions that it has places
// in. A program is used if it is of the build that was recorded, and a source file if it is the one that was
// compiled, as far as that can be told.
package symbolserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"gprof/cmd/internal/source"
	"gprof/convert/firefox"
	"gprof/ingest/symbols"
	"gprof/stream"
)

// Options are where sources and programs lie, besides where the recording says.
type Options struct {
	SourceDirs []string
	Symbols    []string // programs, and folders of them
	Warn       func(error)
}

// Server answers for one recording.
type Server struct {
	o        Options
	tables   *stream.Tables
	finder   source.Finder
	programs *symbols.Set

	mu   sync.Mutex
	told map[string]bool // files with a note that was passed on
}

// New returns a server that knows no recording yet.
func New(o Options) *Server { return &Server{o: o, told: map[string]bool{}} }

// Of returns a sink that passes everything on, and lets the server answer for the recording, from its beginning on.
func (s *Server) Of(sink stream.Sink) stream.Sink { return &watched{sink, s} }

type watched struct {
	stream.Sink
	server *Server
}

func (w *watched) Begin(t *stream.Tables) error {
	w.server.begin(t)
	return w.Sink.Begin(t)
}

func (s *Server) begin(t *stream.Tables) {
	s.tables = t
	start, golang := stream.Origin(t.Processes)
	s.finder = source.Finder{Dirs: s.o.SourceDirs, Recorded: time.Unix(0, int64(start)), Go: golang}
	s.programs, _ = symbols.Open(append(s.o.Symbols, recorded(t)...)) // package input warns of those that the user named
}

// recorded are the programs that lie where the recording says, of whatever build.
func recorded(t *stream.Tables) (paths []string) {
	known := map[string]bool{}
	add := func(path string) {
		if known[path] || !filepath.IsAbs(path) {
			return
		}
		known[path] = true
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			paths = append(paths, path)
		}
	}
	for _, p := range t.Processes {
		add(p.Exe)
	}
	for id := stream.ModuleID(1); int(id) <= t.Modules.Len(); id++ {
		add(t.Modules.At(id).Path)
	}
	for _, m := range t.Mappings() {
		add(m.Path)
	}
	return paths
}

// Extent is a [firefox.Extent] of the programs that are here.
func (s *Server) Extent(build string, offset uint64) (firefox.Native, bool) {
	b, err := s.programs.Body(build, offset)
	return firefox.Native{Name: b.Name, Start: b.Start, Size: b.End - b.Start}, err == nil
}

// Can says whether any program of the recording is here, and any source file.
func (s *Server) Can() (assembly, sources bool) {
	builds, files := map[string]bool{}, map[stream.StringID]bool{}
	for id := stream.FrameID(1); int(id) <= s.tables.Frames.Len() && !(assembly && sources); id++ {
		f := s.tables.Frames.At(id)
		if build := s.build(f.Module); !assembly && build != "" && !builds[build] {
			builds[build] = true
			assembly = s.programs.Has(build)
		}
		if !sources && f.Module != 0 && f.File != 0 && !files[f.File] {
			files[f.File] = true
			sources = s.finder.Has(s.tables.Strings.At(f.File))
		}
	}
	return assembly, sources
}

func (s *Server) build(id stream.ModuleID) string {
	if id == 0 {
		return ""
	}
	return s.tables.Modules.At(id).Build
}

// maxRequest bounds a request, in bytes: it is a name of a file and some ids.
const maxRequest = 64 << 10

// request is what both views ask with.
type request struct {
	DebugName string `json:"debugName"`
	DebugID   string `json:"debugId"`

	File         string `json:"file"`         // of source
	StartAddress string `json:"startAddress"` // of assembly; the viewer gets all of the function
}

// Handle registers what is answered.
func (s *Server) Handle(mux *http.ServeMux) {
	mux.HandleFunc("POST /source/v1", answering(s.source))
	mux.HandleFunc("POST /asm/v1", answering(s.assembly))
}

// answering is a handler that reads a question and writes the answer.
func answering[T any](answer func(request) (T, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var asked request
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
		if err == nil {
			err = json.Unmarshal(body, &asked)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		var told any
		if told, err = answer(asked); err != nil {
			told = map[string]string{"error": err.Error()}
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(told)
	}
}

// Errors of questions about what the recording does not have.
var (
	errModule = errors.New("the recording has no such program")
	errFile   = errors.New("the recording has no function in this file")
	errPlace  = errors.New("the recording has no place in this function")
)

// module is the module that a question is about.
func (s *Server) module(q request) (id stream.ModuleID, m stream.Module, err error) {
	for id = 1; int(id) <= s.tables.Modules.Len(); id++ {
		m = s.tables.Modules.At(id)
		if m.BreakpadName() == q.DebugName && m.BreakpadID() == q.DebugID {
			return id, m, nil
		}
	}
	return 0, m, errModule
}

// place reads a number with 0x before it.
func place(text string) (uint64, error) {
	digits, ok := strings.CutPrefix(text, "0x")
	if !ok {
		return 0, fmt.Errorf("%q is no address", text)
	}
	return strconv.ParseUint(digits, 16, 64)
}
