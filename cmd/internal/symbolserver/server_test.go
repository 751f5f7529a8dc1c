package symbolserver

import (
	"debug/elf"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gprof/ingest/symbols"
	"gprof/rawformat/buildid"
	"gprof/stream"
	"gprof/stream/streamtest"
)

const program = `package main

import "os"

//go:noinline
func work(n int) int {
	for i := range n {
		n ^= i * 7
	}
	return n
}

//go:noinline
func other(n int) int { return work(n) + 1 }

func main() { os.Exit(other(len(os.Args)) & 1) }
`

// built is a program, with where its source lies.
type built struct {
	exe, file string
	build     string
	work      uint64 // a place in main.work
	other     uint64
}

// compile builds text for Linux on a machine.
func compile(t *testing.T, text, arch string, flags ...string) built {
	t.Helper()
	dir := t.TempDir()
	b := built{exe: filepath.Join(dir, "shop"), file: filepath.Join(dir, "main.go")}
	if err := os.WriteFile(b.file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", append(append([]string{"build", "-o", b.exe}, flags...), b.file)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b.locate(t)
	return b
}

// locate finds the functions by going through all, as a stripped program has no other way.
func (b *built) locate(t *testing.T) {
	t.Helper()
	f, err := elf.Open(b.exe)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if b.build, err = buildid.Of(f); err != nil {
		t.Fatal(err)
	}
	set, errs := symbols.Open([]string{b.exe})
	if errs[0] != nil {
		t.Fatal(errs[0])
	}
	for at := f.Section(".text").Offset; b.work == 0 || b.other == 0; {
		body, err := set.Body(b.build, at)
		if err != nil {
			t.Fatalf("at %#x: %v", at, err)
		}
		switch body.Name {
		case "main.work":
			b.work = body.Start + 8
		case "main.other":
			b.other = body.Start + 8
		}
		at = body.End
	}
}

// recording is a server of a recording with main.work in each program.
func recording(t *testing.T, o Options, programs ...built) *viewing {
	t.Helper()
	b := streamtest.NewBuilder()
	text := b.Tables.Strings.Intern
	for i, p := range programs {
		process := b.Process(stream.Process{Instance: uint64(i + 1), Pid: i + 1, Name: "shop", Exe: p.exe, Start: 1 << 62, End: 1<<62 + 1000})
		frame := stream.Frame{Module: b.Tables.Modules.Intern(stream.Module{Build: p.build, Name: "shop"}), Offset: p.work, Function: text("main.work"), File: text(p.file), Line: 7, Start: 6}
		process.Main.Sample(1<<62+1, b.StackOf(frame))
	}
	v := &viewing{t: t, server: New(o), tables: b.Tables}
	if err := stream.Copy(v.server.Of(stream.Discard), b.Source(), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	v.server.Handle(mux)
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	v.url = web.URL
	return v
}

// viewing asks as the viewer does.
type viewing struct {
	t      *testing.T
	server *Server
	tables *stream.Tables
	url    string
}

type answer struct {
	File, Source             string
	StartAddress, Size, Arch string
	Syntax                   []string
	Instructions             [][]any
	Error                    string
}

func (v *viewing) post(path, body string) (status int, text []byte) {
	v.t.Helper()
	res, err := http.Post(v.url+path, "text/plain;charset=UTF-8", strings.NewReader(body))
	if err != nil {
		v.t.Fatal(err)
	}
	defer res.Body.Close()
	if text, err = io.ReadAll(res.Body); err != nil {
		v.t.Fatal(err)
	}
	return res.StatusCode, text
}

func (v *viewing) ask(path string, p built, question map[string]any) (a answer) {
	v.t.Helper()
	m := stream.Module{Build: p.build, Name: "shop"}
	question["debugName"], question["debugId"] = m.BreakpadName(), m.BreakpadID()
	body, err := json.Marshal(question)
	if err != nil {
		v.t.Fatal(err)
	}
	status, text := v.post(path, string(body))
	if err := json.Unmarshal(text, &a); err != nil || status != http.StatusOK {
		v.t.Fatalf("%s: %d, %v: %s", path, status, err, text)
	}
	return a
}

func (v *viewing) source(p built, file string) answer {
	v.t.Helper()
	return v.ask("/source/v1", p, map[string]any{"file": file, "moduleOffset": "0x10"})
}

func (v *viewing) assembly(p built, at uint64) answer {
	v.t.Helper()
	return v.ask("/asm/v1", p, map[string]any{"name": "shop", "codeId": p.build, "startAddress": hexOf(at), "size": "0x1", "continueUntilFunctionEnd": true})
}

func hexOf(n uint64) string { return fmt.Sprintf("%#x", n) }

func (a answer) text(i int) string { return a.Instructions[i][1].(string) }

// The views have the source that was compiled, and all of the function around a place, of any machine, with and
// without symbols, at whatever address it will be.
func TestViews(t *testing.T) {
	for name, c := range map[string]struct {
		arch  string
		flags []string
		last  string
	}{
		"plain":    {arch: "amd64", last: "RET"},
		"stripped": {arch: "amd64", flags: []string{"-ldflags=-s -w"}, last: "RET"},
		"PIE":      {arch: "amd64", flags: []string{"-buildmode=pie"}, last: "RET"},
		"arm64":    {arch: "arm64", last: "RET"},
	} {
		t.Run(name, func(t *testing.T) {
			p := compile(t, program, c.arch, c.flags...)
			v := recording(t, Options{}, p)
			if assembly, sources := v.server.Can(); !assembly || !sources {
				t.Errorf("assembly %v, sources %v", assembly, sources)
			}
			if got := v.source(p, p.file); got.Source != program || got.File != p.file || got.Error != "" {
				t.Errorf("%+v", got)
			}
			got := v.assembly(p, p.work)
			if got.Error != "" || len(got.Instructions) < 4 || got.Syntax[0] != "Go" || got.Instructions[0][0].(float64) != 0 || got.StartAddress != hexOf(p.work-8) {
				t.Fatalf("%+v", got)
			}
			returns := 0
			for i := range got.Instructions {
				if strings.HasPrefix(got.text(i), c.last) {
					returns++
				}
				if strings.HasPrefix(got.text(i), ".byte") {
					t.Errorf("not an instruction: %v", got.Instructions[i])
				}
			}
			if returns == 0 {
				t.Errorf("the function never returns: %v", got.Instructions)
			}
			if n, ok := v.server.Extent(p.build, p.work); !ok || n.Name != "main.work" || hexOf(n.Start) != got.StartAddress || n.Size == 0 {
				t.Errorf("extent %+v, %v", n, ok)
			}
		})
	}
}

// Nothing is answered that the recording does not have.
func TestOnlyWhatWasRecorded(t *testing.T) {
	p := compile(t, program, "amd64")
	beside := filepath.Join(filepath.Dir(p.file), "beside.go")
	if err := os.WriteFile(beside, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	hostile := p
	hostile.file = "/etc/passwd"
	v := recording(t, Options{}, hostile)
	for _, file := range []string{"/etc/passwd", "/etc/shadow", "../../../../etc/passwd", beside, "", "/proc/self/environ"} {
		if got := v.source(p, file); got.Source != "" || got.Error == "" {
			t.Errorf("%q: %+v", file, got)
		}
	}
	v = recording(t, Options{}, p)
	for _, file := range []string{"/etc/passwd", beside, p.exe, filepath.Dir(p.file) + "/../" + filepath.Base(filepath.Dir(p.file)) + "/main.go"} {
		if got := v.source(p, file); got.Source != "" || got.Error != errFile.Error() {
			t.Errorf("%q: %+v", file, got)
		}
	}
	unknown := p
	unknown.build = "00112233445566778899aabbccddeeff"
	if got := v.source(unknown, p.file); got.Source != "" || got.Error != errModule.Error() {
		t.Errorf("of an unknown program: %+v", got)
	}
	if got := v.assembly(unknown, p.work); got.Instructions != nil || got.Error != errModule.Error() {
		t.Errorf("of an unknown program: %+v", got)
	}
	if got := v.assembly(p, p.other); got.Instructions != nil || !strings.Contains(got.Error, errPlace.Error()) {
		t.Errorf("of another function: %+v", got)
	}
	if got := v.assembly(p, 1<<40); got.Instructions != nil || !strings.Contains(got.Error, symbols.ErrNoFunction.Error()) {
		t.Errorf("behind the end: %+v", got)
	}
	for body, want := range map[string]int{"{": 400, "": 400, `{"file":"` + strings.Repeat("x", maxRequest) + `"}`: 400, `{"startAddress":5}`: 400} {
		if status, text := v.post("/asm/v1", body); status != want {
			t.Errorf("%.20q: %d %s", body, status, text)
		}
	}
	if status, _ := v.post("/symbolicate/v5", "{}"); status != http.StatusNotFound {
		t.Errorf("status %d of a question that is not known", status)
	}
}

// A program of another build is never shown, whether it lay there before or came later.
func TestAnotherBuild(t *testing.T) {
	p := compile(t, program, "amd64")
	later := compile(t, strings.Replace(program, "* 7", "* 9", 1), "amd64")
	v := recording(t, Options{}, p)
	if err := os.Rename(later.exe, p.exe); err != nil {
		t.Fatal(err)
	}
	if got := v.assembly(p, p.work); got.Instructions != nil || !strings.Contains(got.Error, symbols.ErrReplaced.Error()) {
		t.Errorf("%+v", got)
	}
	v = recording(t, Options{}, p)
	if got := v.assembly(p, p.work); got.Instructions != nil || !strings.Contains(got.Error, symbols.ErrNoCode.Error()) || !strings.Contains(got.Error, "--symbols") || !strings.Contains(got.Error, p.build) {
		t.Errorf("%+v", got)
	}
	if assembly, sources := v.server.Can(); assembly || !sources {
		t.Errorf("assembly %v, sources %v", assembly, sources)
	}
}

// Each of two builds has what was compiled for it.
func TestTwoBuilds(t *testing.T) {
	p := compile(t, program, "amd64")
	kept := filepath.Join(t.TempDir(), "kept")
	later := compile(t, strings.Replace(program, "\n//go", "\n\n\n//go", 1), "amd64")
	if err := os.Rename(later.exe, kept); err != nil {
		t.Fatal(err)
	}
	later.exe, later.file = kept, p.file // compiled from the same file, which has changed back since
	v := recording(t, Options{}, p, later)
	if got := v.source(p, p.file); got.Source != program {
		t.Errorf("of the build that the file is of: %+v", got)
	}
	for _, b := range []built{p, later} {
		if got := v.assembly(b, b.work); got.Error != "" || got.StartAddress != hexOf(b.work-8) {
			t.Errorf("%s: %+v", b.exe, got)
		}
	}
}

// On another machine there is neither, but --source-dir and --symbols say where they lie.
func TestElsewhere(t *testing.T) {
	p := compile(t, program, "amd64")
	moved := p
	moved.exe, moved.file = "/srv/build/shop", "/srv/build/main.go"
	v := recording(t, Options{}, moved)
	if assembly, sources := v.server.Can(); assembly || sources {
		t.Errorf("assembly %v, sources %v", assembly, sources)
	}
	if got := v.source(moved, moved.file); !strings.Contains(got.Error, "--source-dir") {
		t.Errorf("%+v", got)
	}
	v = recording(t, Options{SourceDirs: []string{filepath.Dir(p.file)}, Symbols: []string{filepath.Dir(p.exe)}}, moved)
	if assembly, sources := v.server.Can(); !assembly || !sources {
		t.Errorf("assembly %v, sources %v", assembly, sources)
	}
	if got := v.source(moved, moved.file); got.Source != program {
		t.Errorf("%+v", got)
	}
	if got := v.assembly(moved, p.work); got.Error != "" {
		t.Errorf("%+v", got)
	}
}

// A file that changed after the recording but has its functions is shown with a note, once.
func TestNote(t *testing.T) {
	p := compile(t, program, "amd64")
	moved := p
	moved.file = "/srv/build/main.go"
	var told []error
	v := recording(t, Options{SourceDirs: []string{filepath.Dir(p.file)}, Warn: func(err error) { told = append(told, err) }}, moved)
	v.server.finder.Recorded = time.Unix(1_000_000, 0)
	for range 2 {
		if got := v.source(moved, moved.file); got.Source != program {
			t.Errorf("%+v", got)
		}
	}
	if len(told) != 1 || !strings.Contains(told[0].Error(), p.file) {
		t.Errorf("%v", told)
	}
}
