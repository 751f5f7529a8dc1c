package symbols

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gprof/ingest/internal/naming"
	"gprof/rawformat/kallsyms"
)

const list = `0000000000000000 A fixed_percpu_data
ffffffff81000000 T _stext
ffffffff81000000 T _text
ffffffff81000140 W __weak_do_one
ffffffff81000140 t do_one
ffffffff81000200 D data
ffffffff81000300 T do_two	[module]
`

func TestKernel(t *testing.T) {
	build := strings.Repeat("ab", 20)
	dir := filepath.Join(t.TempDir(), build)
	name := filepath.Join(dir, "kallsyms")
	write := func(text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	write(list)
	set, errs := Open([]string{filepath.Dir(dir)})
	if errs[0] != nil {
		t.Fatal(errs[0])
	}
	for offset, want := range map[uint64]string{0x140: "do_one", 0x2ff: "do_one"} {
		if got := set.Lookup(build, offset); len(got) != 1 || got[0].Name != want {
			t.Errorf("%#x: %v, want %s", offset, got, want)
		}
	}
	const text = 0xffffffff81000000
	if got := set.Lookup(naming.AtBoot(build, text), 0x310); len(got) != 1 || got[0].Name != "do_two [module]" {
		t.Errorf("of a module: %v", got)
	}
	for _, elsewhere := range []string{build, naming.AtBoot(build, text+0x200000)} {
		if got := set.Lookup(elsewhere, 0x310); got != nil {
			t.Errorf("of a module that may lie elsewhere: %v", got)
		}
	}
	if got := set.Lookup(strings.Repeat("cd", 20), 0x140); got != nil {
		t.Errorf("another kernel: %v", got)
	}
	write("0000000000000000 T _text\n0000000000000000 T do_one\n")
	if _, err := openProgram(name); !errors.Is(err, kallsyms.ErrHidden) {
		t.Errorf("hidden addresses: %v", err)
	}
	other := filepath.Join(t.TempDir(), "kallsyms")
	if err := os.WriteFile(other, []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs := Open([]string{other}); !errors.Is(errs[0], ErrKernelBuild) {
		t.Errorf("a kernel that nobody knows: %v", errs[0])
	}
}

// A C++ program is named by its symbols, as its source has them.
func TestMangled(t *testing.T) {
	dir := t.TempDir()
	exe, source := filepath.Join(dir, "exe"), filepath.Join(dir, "main.c")
	text := "int _ZN4shop4cart3addEi(int n) { return n + 1; }\n" + // shop::cart::add(int)
		"int main(int argc, char **argv) { return _ZN4shop4cart3addEi(argc); }\n"
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-Wl,--build-id", "-o", exe, source).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p, err := openProgram(exe)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range p.symbols {
		if s.Name != "_ZN4shop4cart3addEi" {
			continue
		}
		for _, l := range p.loads {
			if s.Value >= l.Vaddr && s.Value-l.Vaddr < l.Filesz {
				if got := p.lookup(s.Value - l.Vaddr + l.Off + 1); len(got) != 1 || got[0].Name != "shop::cart::add" {
					t.Errorf("%v, want shop::cart::add", got)
				}
				return
			}
		}
	}
	t.Error("the function has no symbol")
}
