package callframe

import (
	"bufio"
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// readelf's names of amd64's registers, by DWARF number.
var amd64Names = []string{"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "ra"}

// compiled is a program of C with frames of several kinds: without a frame pointer, with a stack of
// a size that is known when it runs, and aligned.
func compiled(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	source, exe := filepath.Join(dir, "p.c"), filepath.Join(dir, "p")
	const text = `#include <alloca.h>
#include <string.h>
volatile long sink;
__attribute__((noinline)) void use(char *p, long n) { memset(p, (int)n, n); sink += p[n / 2]; }
__attribute__((noinline)) void sized(long n) { use(alloca(n), n); sink++; }
__attribute__((noinline)) void aligned(long n) { char b[256] __attribute__((aligned(64))); use(b, n); sink++; }
__attribute__((noinline)) long many(long a, long b, long c, long d) { use((char[40]){0}, 40); return a * b + sink == 0 ? c : d; }
int main(int argc, char **argv) { sized(argc); aligned(argc); return many(argc, 2, 3, 4) == 42; }
`
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-O2", "-w", "-fomit-frame-pointer", "-o", exe, source).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return exe
}

// tableOf reads a program's table.
func tableOf(t testing.TB, file string) *Table {
	t.Helper()
	f, err := elf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	table, err := Read(f)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// libraries are those that a program of this machine has.
func libraries(t testing.TB, exe string) (files []string) {
	t.Helper()
	out, err := exec.Command("ldd", exe).Output()
	if err != nil {
		t.Fatal(err)
	}
	for f := range strings.FieldsSeq(string(out)) {
		if strings.HasPrefix(f, "/") {
			files = append(files, f)
		}
	}
	return files
}

// Each row is the one that readelf prints, of a program and the system's own libraries.
func TestRowsLikeReadelf(t *testing.T) {
	exe := compiled(t)
	rows, files := 0, append(libraries(t, exe), exe)
	for _, file := range files {
		table := tableOf(t, file)
		out, err := exec.Command("readelf", "-wF", file).Output()
		if len(out) == 0 { // the status tells of debug files, which are elsewhere
			t.Fatal(err)
		}
		rows += compareRows(t, table, out)
	}
	if len(files) < 3 || rows < 10_000 {
		t.Errorf("%d rows in %v", rows, files)
	}
}

// compareRows compares the rows of a table with those that readelf prints, and returns how many
// there are.
func compareRows(t *testing.T, table *Table, text []byte) (rows int) {
	t.Helper()
	var names []string
	in := bufio.NewScanner(bytes.NewReader(text))
	in.Buffer(nil, 1<<20)
	inFunction := false
	for in.Scan() && !t.Failed() {
		f := strings.Fields(in.Text())
		switch {
		case len(f) == 0:
			inFunction = false
		case len(f) > 3 && (f[3] == "FDE" || f[3] == "CIE"):
			inFunction = f[3] == "FDE"
		case f[0] == "LOC":
			names = f[2:]
		case inFunction && len(f) == len(names)+2 && len(f[0]) == 16:
			rows++
			compareRow(t, table, f, names)
		}
	}
	return rows
}

func compareRow(t *testing.T, table *Table, want, names []string) {
	t.Helper()
	address, err := strconv.ParseUint(want[0], 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	budget := maxBudget
	r, ok := table.rowAt(address, &budget)
	if !ok {
		t.Errorf("no row at %#x", address)
		return
	}
	got := []string{want[0], frameText(r.frame)}
	for _, name := range names {
		got = append(got, ruleText(r.rules[number(t, name)]))
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, readelf has %v of %v", got, want, names)
	}
}

func number(t *testing.T, name string) int {
	for i, n := range amd64Names {
		if n == name {
			return i
		}
	}
	t.Fatalf("readelf tells of %s", name)
	return 0
}

func frameText(r rule) string {
	if r.how == isExpression {
		return "exp"
	}
	return fmt.Sprintf("%s%+d", amd64Names[r.from], r.value)
}

func ruleText(r rule) string {
	switch r.how {
	case atOffset:
		return fmt.Sprintf("c%+d", r.value)
	case isOffset:
		return fmt.Sprintf("v%+d", r.value)
	case atExpression:
		return "exp"
	case isExpression:
		return "vexp"
	}
	return "u"
}
