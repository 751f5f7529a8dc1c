//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gprof/chunks/session"
	"gprof/cmd/internal/console"
)

// newModule makes a module whose main function has what embed says to write there.
func newModule(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func goCommand(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go %v: %v\n%s", args, err, out)
	}
	return string(out)
}

const fresh = "module example.org/checkout\n\ngo 1.26\n"

// A fresh module is embedded, twice, and its main function gets what embed says: it
// builds and records, and its module graph has only our modules and golang.org/x/sys.
func TestEmbed(t *testing.T) {
	dir := newModule(t, map[string]string{"go.mod": fresh, "main.go": "package main\n\nfunc main() {}\n"})
	code, stdout, stderr := runTest(t, "", "embed", dir)
	if code != console.OK || !strings.Contains(stderr, "go.mod requires gprof/recorder, from ") {
		t.Fatalf("status %d: %s", code, stderr)
	}
	edited, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if code, again, stderr := runTest(t, "", "embed", dir); code != console.OK || again != stdout || !strings.Contains(stderr, "already") {
		t.Errorf("again: status %d: %s%s", code, again, stderr)
	}
	if now, err := os.ReadFile(filepath.Join(dir, "go.mod")); err != nil || !bytes.Equal(now, edited) {
		t.Errorf("again: %v\n%s", err, now)
	}
	_, lines, ok := strings.Cut(stdout, ":\n\n")
	if !ok {
		t.Fatalf("it is not said what to write:\n%s", stdout)
	}
	program := "package main\n\nimport (\n\t\"log\"\n\n\t\"gprof/recorder\"\n)\n\nfunc main() {\n" + lines + "}\n"
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	goCommand(t, dir, "build", "-o", "checkout")
	all := strings.Fields(goCommand(t, dir, "list", "-m", "-f", "{{.Path}}", "all"))
	slices.Sort(all)
	if want := []string{"example.org/checkout", "golang.org/x/sys", "gprof/chunks", "gprof/rawformat", "gprof/recorder"}; !slices.Equal(all, want) {
		t.Errorf("modules %v, want %v", all, want)
	}
	sessions := t.TempDir()
	cmd := exec.Command(filepath.Join(dir, "checkout"))
	cmd.Env = append(os.Environ(), "GPROF_DIR="+sessions)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s, err := session.Read(filepath.Join(sessions, "checkout"))
	if err != nil || len(s.Slots) != 1 {
		t.Errorf("%v: %+v", err, s)
	}
}

// With --otel, a program has the processor of spans, too, and what it writes builds.
func TestEmbedOtel(t *testing.T) {
	dir := newModule(t, map[string]string{"go.mod": fresh, "main.go": `package main

import (
	"go.opentelemetry.io/otel/sdk/trace"

	"gprof/recorder/otel"
)

func main() {
	trace.NewTracerProvider(
		OPTION,
	)
}
`})
	code, stdout, stderr := runTest(t, "", "embed", "--otel", dir)
	if code != console.OK {
		t.Fatalf("status %d: %s", code, stderr)
	}
	option := stdout[strings.LastIndex(strings.TrimSpace(stdout), "\n")+1:]
	main := filepath.Join(dir, "main.go")
	program, err := os.ReadFile(main)
	if err == nil {
		err = os.WriteFile(main, bytes.Replace(program, []byte("OPTION"), []byte(strings.TrimSpace(option)), 1), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	goCommand(t, dir, "build", "-o", os.DevNull)
}

// In a workspace, or with a vendor folder, go.mod is not enough: the output names the
// next step.
func TestEmbedElsewhere(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		args  []string
		code  int
		said  string
	}{
		"no module":  {map[string]string{"main.go": "package main\n"}, nil, console.Failed, "no go.mod in "},
		"no sources": {map[string]string{"go.mod": fresh}, []string{"--sources", "/nowhere/at/all"}, console.Failed, "--sources DIR says where they lie"},
		"workspace": {map[string]string{"go.mod": fresh, "main.go": "package main\n", "go.work": "go 1.26\n\nuse .\n"}, nil, console.OK,
			"go.work: it has to use "},
		"vendor": {map[string]string{"go.mod": fresh, "main.go": "package main\n", "vendor/modules.txt": ""}, nil, console.OK, "run `go mod vendor`"},
		"broken": {map[string]string{"go.mod": "modul x\n"}, nil, console.Failed, "unknown directive: modul"},
	} {
		args := append(append([]string{"embed"}, c.args...), newModule(t, c.files))
		if code, _, stderr := runTest(t, "", args...); code != c.code || !strings.Contains(stderr, c.said) {
			t.Errorf("%s: status %d: %s", name, code, stderr)
		}
	}
}

// A service is called after the module, and not after its major version.
func TestServiceOf(t *testing.T) {
	for module, want := range map[string]string{"example.org/checkout": "checkout", "example.org/checkout/v2": "checkout", "v8": "v8", "example.org/v8/tools": "tools"} {
		if got := serviceOf(module); got != want {
			t.Errorf("%s: %q, want %q", module, got, want)
		}
	}
}
