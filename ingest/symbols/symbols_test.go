package symbols

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// source is a program that says what the runtime knows of some of its places:
// in a plain function, in one that was inlined twice, in a method called
// through a wrapper, in a generic one.
const source = `package main

import (
	"fmt"
	"io"
	"runtime"
)

var sink [][]uintptr

func note() { pcs := make([]uintptr, 64); sink = append(sink, pcs[:runtime.Callers(2, pcs)]) }

func inner(n int) int { if n > 0 { note() }; return n + 1 }
func outer(n int) int { return inner(n) * 2 }

//go:noinline
func plain(n int) int { return outer(n) + outer(n+1) }

type value struct{ n int }

func (v value) Write(p []byte) (int, error) { note(); return v.n, nil }

//go:noinline
func generic[T any](f func(T) int, v T) int { return f(v) + outer(3) }

//go:noinline
func through(w io.Writer) { w.Write(nil) }

func main() {
	plain(1)
	through(&value{1})
	generic(plain, 4)
	defer func() {
		recover()
		for _, pcs := range sink {
			frames := runtime.CallersFrames(pcs)
			for more := true; more; {
				var f runtime.Frame
				f, more = frames.Next()
				fmt.Printf("%d %s %s %d\n", f.PC, f.Function, f.File, f.Line)
			}
			fmt.Println()
		}
	}()
	func() { defer note(); var p *int; *p = 1 }()
}
`

func compile(t *testing.T, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	exe := filepath.Join(dir, "exe")
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", append(append([]string{"build", "-o", exe}, flags...), filepath.Join(dir, "main.go"))...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return exe
}

// The file's tables give the names that the runtime gives, for every place of
// every stack, also in stripped programs.
func TestLookupAgreesWithRuntime(t *testing.T) {
	for name, flags := range map[string][]string{"plain": nil, "stripped": {"-ldflags=-s -w"}} {
		t.Run(name, func(t *testing.T) {
			exe := compile(t, flags...)
			out, err := exec.Command(exe).Output()
			if err != nil {
				t.Fatal(err)
			}
			f, err := elf.Open(exe)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			p := readProgram(f)
			places, inlined, starts := 0, 0, 0
			named := 0 // by the symbols
			for stack := range strings.SplitSeq(strings.TrimSpace(string(out)), "\n\n") {
				for _, want := range physical(t, stack) {
					got := p.golang.lookup(want.pc)
					for i := range got {
						got[i].Name = printed(got[i].Name)
						starts += checkStart(t, got[i])
						got[i].Start = 0 // the runtime does not tell
					}
					if diff := cmp.Diff(want.chain, got); diff != "" {
						t.Errorf("at %#x:\n%s", want.pc, diff)
					}
					places++
					for _, s := range (&program{loads: p.loads, symbols: p.symbols}).lookup(fileOffset(t, p, want.pc)) {
						named++
						name := strings.TrimSuffix(printed(s.Name), ".abi0")
						if name != want.chain[0].Name && name != "main.(*value).Write" { // the wrapper, which stacks leave out
							t.Errorf("at %#x: symbol %s, want %s", want.pc, s.Name, want.chain[0].Name)
						}
					}
					inlined += len(want.chain) - 1
				}
			}
			if places < 10 || inlined < 3 || starts < 10 {
				t.Errorf("%d places with %d inlined calls, %d starts: the test does not test what it should", places, inlined, starts)
			}
			if wantNamed := map[string]int{"plain": places}[name]; named != wantNamed {
				t.Errorf("the symbols name %d places, want %d", named, wantNamed)
			}
		})
	}
}

// checkStart checks where a function of the source begins, and returns 1 if it
// is one of those.
func checkStart(t *testing.T, f Function) int {
	t.Helper()
	name, ok := strings.CutPrefix(f.Name, "main.")
	before, _, found := strings.Cut(source, "\nfunc "+name+"(")
	if !ok || !found {
		return 0
	}
	if want := int32(strings.Count(before, "\n") + 2); f.Start != want {
		t.Errorf("%s begins at line %d, want %d", f.Name, f.Start, want)
	}
	return 1
}

// printed is a name as the runtime prints it: without the shapes of type
// parameters.
func printed(name string) string {
	from, to := strings.IndexByte(name, '['), strings.LastIndexByte(name, ']')
	if from < 0 || to <= from {
		return name
	}
	return name[:from] + "[...]" + name[to+1:]
}

func fileOffset(t *testing.T, p *program, address uint64) uint64 {
	t.Helper()
	for _, l := range p.loads {
		if address >= l.Vaddr && address-l.Vaddr < l.Filesz {
			return address - l.Vaddr + l.Off
		}
	}
	t.Fatalf("%#x is in no segment", address)
	return 0
}

type frame struct {
	pc    uint64
	chain []Function
}

// physical joins lines of the program's output whose code is one function's:
// the inner ones are told by their names.
func physical(t *testing.T, stack string) (frames []frame) {
	t.Helper()
	var open []Function
	var pc uint64
	for line := range strings.Lines(stack) {
		var at uint64
		var f Function
		if _, err := fmt.Sscanf(line, "%d %s %s %d", &at, &f.Name, &f.File, &f.Line); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if len(open) == 0 {
			pc = at
		}
		open = append([]Function{f}, open...)
		switch f.Name {
		case "main.inner", "main.outer", "main.note", "runtime.panicmem": // inlined
			continue
		}
		frames = append(frames, frame{pc, open})
		open = nil
	}
	return frames
}
