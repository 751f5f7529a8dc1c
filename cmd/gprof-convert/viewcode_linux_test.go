package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gprof/cmd/internal/console"
	"gprof/convert/firefox"
	"gprof/fixtures/judges"
	"gprof/fixtures/programs"
)

// recordHot records a real program, and returns its session.
func recordHot(t *testing.T, exe string) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), "GPROF_DIR="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return filepath.Join(dir, "hot")
}

// codeOf is what Firefox Profiler's own code shows of a function, by the URL that view prints.
func codeOf(t *testing.T, address, function string) *judges.Code {
	t.Helper()
	f := judges.Viewing(t, address)
	threads, err := f.Threads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, thread := range threads {
		functions, err := f.Functions(t.Context(), thread.Handle, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range functions {
			if one.Name == function {
				code, err := f.Code(t.Context(), thread.Handle, function)
				if err != nil {
					t.Fatal(err)
				}
				return code
			}
		}
	}
	t.Fatalf("no thread has %s", function)
	return nil
}

// The viewer's source and assembly views show a real program: where samples are is code of the function.
func TestViewCodeJudge(t *testing.T) {
	address, _ := viewing(t, recordHot(t, programs.Path(t, "fixtures/hot")))
	const function = "gprof/fixtures/hot/work.round"
	code := codeOf(t, address, function)
	if code.Source == nil || !strings.HasSuffix(code.Source.File, "hot/work/work.go") || len(code.Warnings) > 0 {
		t.Fatalf("%+v", code)
	}
	hit := 0.0
	for _, line := range code.Source.Lines {
		if line.Text == nil {
			t.Fatalf("line %d has no text", line.Line)
		}
		if line.Total > 0 && strings.TrimSpace(*line.Text) == "" {
			t.Errorf("%v samples are of the empty line %d", line.Total, line.Line)
		}
		hit += line.Self
	}
	if hit == 0 {
		t.Errorf("no line has samples: %+v", code.Source)
	}
	hit = 0
	for _, native := range code.Assembly {
		if native.Error != nil || len(native.Instructions) == 0 || native.Size == nil || native.Instructions[0].Address != native.Address {
			t.Errorf("%+v", native)
		}
		for _, i := range native.Instructions {
			hit += i.Self
		}
	}
	if len(code.Assembly) == 0 || hit == 0 {
		t.Errorf("no instruction has samples: %+v", code.Assembly)
	}
}

// profileAt is where the viewer fetches the profile.
func profileAt(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	at, err := url.PathUnescape(strings.Split(u.EscapedPath(), "/")[2])
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// asked is what the views get to see of a function.
type asked struct{ source, sourceError, assembly, assemblyError string }

// ask asks as the views do: with what the tables of the profile have of a function.
func ask(t *testing.T, address, function string) (all []asked) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	server := u.Query().Get("symbolServer")
	zipped, err := get(profileAt(t, address), firefox.Site)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(zipped))
	if err != nil {
		t.Fatal(err)
	}
	var p profile
	if err := json.NewDecoder(z).Decode(&p); err != nil {
		t.Fatal(err)
	}
	s := &p.Shared
	for n, name := range s.FuncTable.Name {
		if s.StringArray[name] != function {
			continue
		}
		frame := slices.Index(s.FrameTable.Func, n)
		lib := p.Libs[s.FrameTable.Lib[frame]]
		native := *s.FrameTable.NativeSymbol[frame]
		var a asked
		a.source, a.sourceError = question(t, server+"/source/v1", map[string]any{"debugName": lib.DebugName, "debugId": lib.BreakpadID,
			"moduleOffset": fmt.Sprintf("%#x", s.FrameTable.Address[frame]), "file": s.StringArray[s.Sources.Filename[*s.FuncTable.Source[n]]]}, "source")
		a.assembly, a.assemblyError = question(t, server+"/asm/v1", map[string]any{"debugName": lib.DebugName, "debugId": lib.BreakpadID, "name": lib.Name, "codeId": lib.CodeID,
			"startAddress": fmt.Sprintf("%#x", s.NativeSymbols.Address[native]), "size": "0x1", "continueUntilFunctionEnd": true}, "instructions")
		all = append(all, a)
	}
	return all
}

// profile is what the views read of one.
type profile struct {
	Libs []struct{ Name, DebugName, BreakpadID, CodeID string }

	Shared struct {
		StringArray []string
		FuncTable   struct {
			Name   []int
			Source []*int
		}
		FrameTable struct {
			Func, Lib, Address []int
			NativeSymbol       []*int
		}
		NativeSymbols struct{ Address []int }
		Sources       struct{ Filename []int }
	}
}

// question posts one, as a page of the viewer does, and returns a member of the answer, or the error.
func question(t *testing.T, at string, body any, member string) (answer, refusal string) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(at, "/") {
		return "", "no symbol server"
	}
	req, err := http.NewRequest("POST", at, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Origin", firefox.Site)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var all map[string]any
	if err := json.NewDecoder(res.Body).Decode(&all); err != nil || res.StatusCode != http.StatusOK || res.Header.Get("Access-Control-Allow-Origin") != firefox.Site {
		t.Fatalf("%s: %s, %v", at, res.Status, err)
	}
	refusal, _ = all["error"].(string)
	if refusal != "" {
		return "", refusal
	}
	return fmt.Sprint(all[member]), ""
}

// The views show what lies here and was recorded, of recordings in all forms, and say of the rest why not.
func TestViewCode(t *testing.T) {
	work := t.TempDir()
	exe := filepath.Join(work, "hot")
	build := func(flags ...string) {
		t.Helper()
		cmd := exec.Command("go", append(append([]string{"build", "-o", exe}, flags...), ".")...)
		cmd.Dir = "../../fixtures/hot"
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	convert := func(args ...string) string {
		t.Helper()
		var stderr bytes.Buffer
		if code := run(args, nil, &stderr, &stderr); code != console.OK {
			t.Fatalf("%v: %s", args, &stderr)
		}
		return args[len(args)-1]
	}
	build("-buildmode=pie", "-ldflags=-s -w")
	session := recordHot(t, exe)
	packed := convert("pack", session, "-o", filepath.Join(work, "hot.gprof"))
	sliced := convert("slice", session, "--from", "0s", "--to", "1m", "-o", filepath.Join(work, "slice.gprof"))
	again := convert(session, "-o", filepath.Join(work, "hot.json.gz"))
	const round, main = "gprof/fixtures/hot/work.round", "runtime.main"
	both := asked{source: "func round(x, k uint64) uint64 {", assembly: "[0 "}
	expect := func(name, function string, want []asked, args ...string) {
		t.Helper()
		address, _ := viewing(t, append(args, "--linger", "1m")...)
		got := ask(t, address, function)
		if len(got) != len(want) {
			t.Fatalf("%s: %d functions, want %d", name, len(got), len(want))
		}
		for i, w := range want {
			for _, pair := range [][2]string{{got[i].source, w.source}, {got[i].sourceError, w.sourceError}, {got[i].assembly, w.assembly}, {got[i].assemblyError, w.assemblyError}} {
				if (pair[0] == "") != (pair[1] == "") || !strings.Contains(pair[0], pair[1]) {
					t.Errorf("%s: %.300q, want %q", name, pair[0], pair[1])
				}
			}
		}
	}
	expect("stripped PIE", round, []asked{both}, session)
	expect("packed", round, []asked{both}, packed)
	expect("sliced", round, []asked{both}, sliced)
	expect("range", round, []asked{both}, session, "--from", "0.01s")
	expect("converted", round, []asked{both}, again)
	expect("redacted", round, []asked{{sourceError: "not found here", assemblyError: "not here"}}, session, "--redact")
	expect("Go's own, redacted", main, []asked{{source: "func main()", assemblyError: "not here"}}, session, "--redact")
	expect("redacted, with program", round, []asked{{sourceError: "not found here", assembly: "[0 "}}, session, "--redact", "--symbols", exe)

	address, ended := viewing(t, session, "--linger", "1ms")
	if _, err := get(profileAt(t, address), firefox.Site); err != nil {
		t.Fatal(err)
	}
	if code, stderr := ended(); code != console.OK || !strings.Contains(stderr, "source and assembly views work while this runs: until Ctrl-C, or 1.00ms after it last asked") {
		t.Errorf("exit code %d: %s", code, stderr)
	}

	first := filepath.Join(work, "first")
	if err := os.Rename(exe, first); err != nil {
		t.Fatal(err)
	}
	expect("program gone", round, []asked{{source: both.source, assemblyError: "not here as build"}}, session)
	expect("program elsewhere", round, []asked{both}, session, "--symbols", work)
	build("-ldflags=-X main.unused=1")
	expect("another build in its place", round, []asked{{source: both.source, assemblyError: "not here as build"}}, session)
	expect("two builds", round, []asked{both, both}, session, recordHot(t, exe), "--symbols", first)
}
