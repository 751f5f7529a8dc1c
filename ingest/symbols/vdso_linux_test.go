package symbols

import (
	"debug/elf"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// vdso is what the kernel maps into each process, as a file.
func vdso(t *testing.T) string {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(maps)) {
		var from, to int64
		if !strings.HasSuffix(strings.TrimSpace(line), "[vdso]") {
			continue
		}
		if _, err := fmt.Sscanf(line, "%x-%x", &from, &to); err != nil {
			t.Fatal(err)
		}
		memory, err := os.Open("/proc/self/mem")
		if err != nil {
			t.Fatal(err)
		}
		defer memory.Close()
		b := make([]byte, to-from)
		if _, err := io.ReadFull(io.NewSectionReader(memory, from, to-from), b); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(t.TempDir(), "vdso")
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	t.Fatal("this process has no vDSO")
	return ""
}

// The vDSO, whose build id stands between other notes, names its functions.
func TestVDSO(t *testing.T) {
	name := vdso(t)
	build, _, err := survey(name)
	if err != nil || len(build) != 40 {
		t.Fatalf("build id %q, %v", build, err)
	}
	f, err := elf.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	set, errs := Open([]string{name})
	if errs[0] != nil {
		t.Fatal(errs[0])
	}
	for _, s := range symbols {
		if strings.HasSuffix(s.Name, "clock_gettime") {
			if got := set.Lookup(build, s.Value+1); len(got) != 1 || !strings.HasSuffix(got[0].Name, "clock_gettime") {
				t.Errorf("%v, want %s", got, s.Name)
			}
			return
		}
	}
	t.Error("it tells no time")
}
