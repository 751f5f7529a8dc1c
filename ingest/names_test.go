package ingest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gprof/chunks"
	"gprof/stream"
)

// A real program records itself. Without the names that its recorder wrote, the
// program file gives the same ones: for each frame the same function, file and
// line, inlined calls included; also when it is stripped, and when its linker
// was told to give it no id.
func TestSymbolsNameWhatTheRecordingDoesNot(t *testing.T) {
	for i, flags := range []string{"-ldflags=-s -w", "-ldflags=-buildid= -B none"} {
		exe, session := filepath.Join(t.TempDir(), "small"), t.TempDir()
		command(t, nil, "go", "build", "-o", exe, flags, "gprof/fixtures/small")
		command(t, []string{"GPROF_DIR=" + session}, exe)

		want := frameNames(t, session, Options{})
		removeSymbols(t, session)
		bare := frameNames(t, session, Options{})
		if named(bare) > 0 || named(want) < 8 {
			t.Fatalf("%s: %d frames have names, %d after their removal", flags, named(want), named(bare))
		}
		got := frameNames(t, session, Options{Symbols: []string{filepath.Dir(exe)}})
		// A recorder leaves its own methods out of stacks, also where they were inlined.
		ofRecorder := func(line string) bool { return strings.Contains(line, " gprof/recorder.Event") }
		want, got = slices.DeleteFunc(want, ofRecorder), slices.DeleteFunc(got, ofRecorder)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: recorded names (-) and those of the program (+):\n%s", flags, diff)
		}

		// Another build of the same program must not be taken for it.
		if i == 0 {
			continue
		}
		command(t, nil, "go", "build", "-o", exe, flags+" -X main.x=1", "-gcflags=gprof/fixtures/small=-N", "gprof/fixtures/small")
		other := frameNames(t, session, Options{Symbols: []string{exe}})
		if diff := cmp.Diff(bare, other); diff != "" {
			t.Errorf("%s: names of another build:\n%s", flags, diff)
		}
	}
}

func command(t *testing.T, env []string, args ...string) {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v: %s", args, err, out)
	}
}

// shape is the type parameters of a generic function: the runtime names them in
// a CPU profile, not in a stack of a marker.
var shape = regexp.MustCompile(`\[.*\]`)

// frameNames lists the frames of an output that have code.
func frameNames(t *testing.T, session string, o Options) (lines []string) {
	t.Helper()
	src, found, err := Open([]string{session}, o)
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	var sink stream.Count
	if err := stream.Copy(&sink, src, stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, w := range found.Warnings {
		t.Error(w)
	}
	for id := stream.FrameID(1); int(id) <= sink.Tables.Frames.Len(); id++ {
		f := sink.Tables.Frames.At(id)
		if f.Module == 0 || strings.HasPrefix(sink.Tables.Modules.At(f.Module).Path, "[") {
			continue
		}
		name, file := "", ""
		if f.Function != 0 {
			name, file = shape.ReplaceAllString(sink.Tables.Strings.At(f.Function), "[...]"), sink.Tables.Strings.At(f.File)
		}
		lines = append(lines, fmt.Sprintf("%#x %d %s %s:%d", f.Offset, f.Depth, name, file, f.Line))
	}
	slices.Sort(lines)
	return lines
}

func named(lines []string) (n int) {
	for _, l := range lines {
		if strings.Contains(l, ".go:") {
			n++
		}
	}
	return n
}

// removeSymbols takes the names of frames out of a session's dictionaries.
func removeSymbols(t *testing.T, session string) {
	t.Helper()
	dicts, err := filepath.Glob(filepath.Join(session, "*", "*", "dict-*"))
	if err != nil || len(dicts) == 0 {
		t.Fatalf("%v: %v", dicts, err)
	}
	for _, name := range dicts {
		var text bytes.Buffer
		if err := chunks.Inspect(&text, os.DirFS(filepath.Dir(name)), filepath.Base(name)); err != nil {
			t.Fatal(err)
		}
		var kept strings.Builder
		for line := range strings.Lines(text.String()) {
			if !strings.Contains(line, "def-symbol") {
				kept.WriteString(line)
			}
		}
		data, err := chunks.ParseFile(kept.String())
		if err == nil {
			err = os.WriteFile(name, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
