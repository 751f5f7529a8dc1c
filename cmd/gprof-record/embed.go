package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
)

type embedCmd struct {
	Sources string `placeholder:"DIR" help:"Directory of gprof's sources (default: those that this command was built from)."`
	Otel    bool   `help:"Also require gprof/recorder/otel, which records the spans of OpenTelemetry's SDK."`
	Dir     string `arg:"" optional:"" default:"." help:"Directory of the module that is to record itself."`
}

// Help is the end of embed --help.
func (*embedCmd) Help() string {
	return `It has the module's go.mod require the recorder and find it in gprof's sources, and says what to write in main. The module gets three modules of gprof and golang.org/x/sys, nothing else. Running it again changes nothing.

Examples:

  gprof-record embed
  gprof-record embed --otel
  gprof-record embed --sources ~/src/gprof ./checkout`
}

// embedded are the modules that a program with the recorder needs besides
// golang.org/x/sys.
var embedded = []string{"rawformat", "chunks", "recorder"}

// withOtel is the module for programs with spans.
const withOtel = "recorder/otel"

// Run edits go.mod:
//
//  1. Replace directives say where the modules are, by `go mod edit`.
//  2. `go get` requires the recorder and the modules that it needs, with their
//     checksums.
func (c *embedCmd) Run(s *tool) error {
	module, err := moduleIn(c.Dir)
	if err != nil {
		return err
	}
	sources, err := c.sources()
	if err != nil {
		return err
	}
	before, err := os.ReadFile(module.file)
	if err != nil {
		return err
	}
	edit := []string{"mod", "edit"}
	modules, get := embedded, []string{"get", "gprof/recorder@v0.0.0"}
	if c.Otel {
		modules, get = append(slices.Clone(embedded), withOtel), append(get, "gprof/"+withOtel+"@v0.0.0")
	}
	for _, m := range modules {
		edit = append(edit, "-replace=gprof/"+m+"="+filepath.Join(sources, m))
	}
	if _, err := module.run(edit...); err != nil {
		return err
	}
	if _, err := module.run(get...); err != nil {
		return fmt.Errorf("%w\nthe replace lines are in %s; with a network or a filled module cache run it again", err, module.file)
	}
	after, err := os.ReadFile(module.file)
	if err != nil {
		return err
	}
	if bytes.Equal(before, after) {
		s.Say(fmt.Sprintf("%s requires gprof/recorder already, from %s", module.file, sources))
	} else {
		s.Say(fmt.Sprintf("%s requires gprof/recorder, from %s", module.file, sources))
	}
	module.notes(s)
	fmt.Fprintf(s.stdout, inMain, serviceOf(module.path))
	if c.Otel {
		fmt.Fprint(s.stdout, atProvider)
	}
	return nil
}

// majorVersion is the last part of the paths of modules from version 2 on.
var majorVersion = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`/v[0-9]+$`) })

// serviceOf is what a module's program may be called.
func serviceOf(module string) string { return path.Base(majorVersion().ReplaceAllString(module, "")) }

// inMain is what to write at the beginning of a program's main function.
const inMain = `Write in main, with the import "gprof/recorder":

	rec, err := recorder.Start(recorder.Options{Service: %q})
	if err != nil { log.Print(err) } // the program goes on, nothing is recorded
	defer rec.Stop()
`

// atProvider is what to write where a program makes its provider of tracers.
const atProvider = `
Give the provider of tracers one option more, with the import "gprof/recorder/otel":

	trace.WithSpanProcessor(otel.NewProcessor(otel.Options{}))
`

// sources returns the directory of our modules.
func (c *embedCmd) sources() (string, error) {
	dir := c.Sources
	if dir == "" {
		_, file, _, _ := runtime.Caller(0)
		dir = filepath.Dir(filepath.Dir(filepath.Dir(file)))
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for _, m := range embedded {
		if _, err := os.Stat(filepath.Join(dir, m, "go.mod")); err != nil {
			return "", fmt.Errorf("no sources of gprof in %s: %w; --sources DIR says where they lie", dir, err)
		}
	}
	return dir, nil
}

// goModule is a module that is being edited.
type goModule struct {
	path string // in its go.mod
	dir  string
	file string // its go.mod
	work string // the go.work in use; "" or off: none
}

// moduleIn finds the module of a directory that has a go.mod itself.
func moduleIn(dir string) (*goModule, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	m := &goModule{dir: dir, file: filepath.Join(dir, "go.mod")}
	if _, err := os.Stat(m.file); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no go.mod in %s: want the directory of a module, or `go mod init NAME` there first", dir)
	}
	work, err := m.run("env", "GOWORK")
	if err != nil {
		return nil, err
	}
	m.work = strings.TrimSpace(string(work))
	about, err := m.run("mod", "edit", "-json")
	if err != nil {
		return nil, err
	}
	var said struct{ Module struct{ Path string } }
	if err := json.Unmarshal(about, &said); err != nil {
		return nil, fmt.Errorf("go mod edit -json: %w", err)
	}
	m.path = said.Module.Path
	return m, nil
}

// run runs the go command on the module alone, without the workspace around it and
// without vendored copies.
func (m *goModule) run(args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = m.dir
	cmd.Env = os.Environ()
	if args[0] != "env" {
		cmd.Env = append(cmd.Env, "GOWORK=off", "GOFLAGS=-mod=mod")
	}
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil, fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, bytes.TrimSpace(exit.Stderr))
	}
	return out, err
}

// notes prints what is left to do where a build does not only look at go.mod.
func (m *goModule) notes(s *tool) {
	if m.work != "" && m.work != "off" {
		s.Hint(fmt.Sprintf("builds go by the workspace %s: it has to use %s, and its other modules must not replace gprof's by others", m.work, m.dir))
	}
	if _, err := os.Stat(filepath.Join(m.dir, "vendor", "modules.txt")); err == nil {
		s.Hint(fmt.Sprintf("%s has a vendor directory: when main imports the recorder, run `go mod vendor`", m.dir))
	}
}
