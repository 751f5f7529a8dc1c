package disassembly

import (
	"debug/elf"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gprof/ingest/symbols"
	"gprof/rawformat/buildid"
)

const program = `package main

import "os"

type list struct{ n, m int }

//go:noinline
func (l *list) sum(b []byte) int {
	for i, x := range b {
		if x > 'a' {
			l.n += i
		} else {
			l.m -= int(x)
		}
	}
	return l.n / (l.m | 1)
}

func main() {
	l := &list{}
	os.Exit(l.sum([]byte(os.Args[0])) & 1)
}
`

// Go's own tool sees the same instructions at the same places.
func TestAgreesWithObjdump(t *testing.T) {
	path, err := exec.Command("go", "tool", "-n", "objdump").Output() // to start it by go tool takes longer than it runs
	if err != nil {
		t.Fatal(err)
	}
	objdump := strings.TrimSpace(string(path))
	for name, flags := range map[string][]string{"amd64": nil, "arm64": nil, "amd64 PIE": {"-buildmode=pie"}} {
		t.Run(name, func(t *testing.T) {
			arch, _, _ := strings.Cut(name, " ")
			dir := t.TempDir()
			exe := filepath.Join(dir, "exe")
			if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("go", append(append([]string{"build", "-o", exe}, flags...), filepath.Join(dir, "main.go"))...)
			cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			f, err := elf.Open(exe)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			set, _ := symbols.Open([]string{exe})
			build, err := buildid.Of(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, function := range []string{"main.(*list).sum", "main.main", "runtime.mallocgc", "runtime.memmove"} {
				compare(t, objdump, exe, f, set, build, function)
			}
		})
	}
}

func compare(t *testing.T, objdump, exe string, f *elf.File, set *symbols.Set, build, function string) {
	t.Helper()
	want := listed(t, objdump, exe, function)
	var load elf.ProgHeader
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && want[0].at >= p.Vaddr && want[0].at < p.Vaddr+p.Filesz {
			load = p.ProgHeader
		}
	}
	code, err := set.Code(build, want[len(want)/2].at-load.Vaddr+load.Off)
	if err != nil {
		t.Fatalf("%s: %v", function, err)
	}
	if code.Name != function || code.Start != want[0].at-load.Vaddr+load.Off {
		t.Errorf("%s at %#x: %s at %#x", function, want[0].at, code.Name, code.Start)
	}
	l, err := Of(code)
	if err != nil {
		t.Fatal(err)
	}
	if l.Syntax != "Go" || len(l.Instructions) != len(want) {
		t.Fatalf("%s: %d instructions in %s, objdump has %d", function, len(l.Instructions), l.Syntax, len(want))
	}
	for i, w := range want {
		got := l.Instructions[i]
		text := got.Text
		if m := jump.FindStringSubmatch(text); m != nil { // to a place in the file, where objdump says where in memory
			n, err := strconv.ParseUint(m[2], 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			text = m[1] + strconv.FormatUint(n+load.Vaddr-load.Off, 16)
		}
		if operation, _, _ := strings.Cut(w.text, " "); operation != "CALL" && operation[0] != 'J' {
			text, _, _ = strings.Cut(text, " ") // of operands the tool knows fewer
			w.text = operation
		}
		if uint64(got.Offset) != w.at-want[0].at || text != w.text {
			t.Errorf("%s: %d %s, want %d %s", function, got.Offset, text, w.at-want[0].at, w.text)
		}
	}
}

// jump matches one into the middle of a function.
var jump = regexp.MustCompile(`^(J[A-Z]+ 0x|CALL 0x)([0-9a-f]+)$`)

type line struct {
	at   uint64
	text string
}

// listed is a function as Go's tool lists it.
func listed(t *testing.T, objdump, exe, function string) (lines []line) {
	t.Helper()
	quoted := strings.NewReplacer("(", `\(`, ")", `\)`, "*", `\*`, ".", `\.`).Replace(function)
	out, err := exec.Command(objdump, "-s", "^"+quoted+"(.abi0)?$", exe).Output()
	if err != nil {
		t.Fatal(err)
	}
	for text := range strings.Lines(string(out)) {
		cells := strings.FieldsFunc(text, func(r rune) bool { return r == '\t' || r == '\n' })
		if len(cells) < 4 {
			continue
		}
		at, err := strconv.ParseUint(strings.TrimPrefix(cells[1], "0x"), 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line{at, strings.ReplaceAll(strings.TrimSpace(cells[len(cells)-1]), ".abi0(", "(")}) // the runtime's tables name no ABI
	}
	for padding := []string{"?", "INT $0x3"}; slices.Contains(padding, lines[len(lines)-1].text); {
		lines = lines[:len(lines)-1]
	}
	if len(lines) < 10 {
		t.Fatalf("objdump has %d lines of %s: %s", len(lines), function, out)
	}
	return lines
}

// Bytes that are no instruction are shown as such, and those behind them are found again.
func TestNoInstruction(t *testing.T) {
	for name, c := range map[string]struct {
		code symbols.Code
		want []Instruction
	}{
		"amd64": {symbols.Code{Machine: elf.EM_X86_64, Bytes: []byte{0x06, 0x90, 0x06}}, []Instruction{{0, ".byte 0x06"}, {1, "nop"}, {2, ".byte 0x06"}}},
		"arm64": {symbols.Code{Machine: elf.EM_AARCH64, Bytes: []byte{0xff, 0xff, 0xff, 0xff, 0x1f, 0x20, 0x03, 0xd5, 1}}, []Instruction{{0, ".byte 0xff, 0xff, 0xff, 0xff"}, {4, "nop"}, {8, ".byte 0x01"}}},
	} {
		l, err := Of(&c.code)
		if err != nil || len(l.Instructions) != len(c.want) {
			t.Fatalf("%s: %+v, %v", name, l, err)
		}
		for i, w := range c.want {
			if l.Instructions[i] != w {
				t.Errorf("%s: %+v, want %+v", name, l.Instructions[i], w)
			}
		}
	}
	if _, err := Of(&symbols.Code{Machine: elf.EM_RISCV}); !errors.Is(err, ErrMachine) {
		t.Error(err)
	}
}
