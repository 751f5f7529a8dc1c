package symbols

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

const detachedSource = `
__attribute__((noinline)) static int hidden(int n) { volatile int m = n; return m * 3; }
int main(int argc, char **argv) { return hidden(argc); }
`

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", name, err, out)
	}
}

// A file of symbols that were stripped from a program names its functions only
// together with the program, which has their places.
func TestDetached(t *testing.T) {
	dir := t.TempDir()
	source, exe := filepath.Join(dir, "main.c"), filepath.Join(dir, "exe")
	if err := os.WriteFile(source, []byte(detachedSource), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, "gcc", "-O1", "-no-pie", "-Wl,--build-id", "-o", exe, source)
	build, offset := hiddenFunction(t, exe)
	names, stripped := filepath.Join(dir, "names"), filepath.Join(dir, "stripped")
	run(t, "objcopy", "--only-keep-debug", exe, names)
	run(t, "strip", "-o", stripped, exe)
	for _, c := range []struct {
		files []string
		want  string
	}{
		{[]string{exe}, "hidden"}, {[]string{stripped}, ""}, {[]string{names}, ""},
		{[]string{names, stripped}, "hidden"}, {[]string{stripped, names}, "hidden"}, {[]string{names, exe}, "hidden"},
	} {
		set, errs := Open(c.files)
		for _, err := range errs {
			if err != nil {
				t.Fatal(err)
			}
		}
		got := ""
		for _, f := range set.Lookup(build, offset) {
			got += f.Name
		}
		if got != c.want {
			t.Errorf("with %v it is %q, want %q", c.files, got, c.want)
		}
	}
}

// hiddenFunction is the build of a program, and where in its file the function hidden is.
func hiddenFunction(t *testing.T, exe string) (build string, offset uint64) {
	t.Helper()
	f, err := elf.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range symbols {
		if s.Name == "hidden" {
			id, _, err := survey(exe)
			if err != nil {
				t.Fatal(err)
			}
			return id, fileOffset(t, readProgram(f), s.Value)
		}
	}
	t.Fatal("no such function")
	return "", 0
}
