package rt

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Whatever relies on details of Go is built only for versions of Go that it was verified with: all
// assembly, all names of the runtime that the linker must find, and what uses them.
func TestOnlyVerifiedVersions(t *testing.T) {
	const version = "go1.28" // the first that is not verified
	tricks := 0
	for _, module := range []string{"../..", "../../../chunks"} {
		err := fs.WalkDir(os.DirFS(module), ".", func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || filepath.Ext(name) != ".go" && filepath.Ext(name) != ".s" {
				return err
			}
			text, err := os.ReadFile(filepath.Join(module, name))
			if err != nil {
				return err
			}
			constraint := ""
			for line := range bytes.Lines(text) {
				if bytes.HasPrefix(line, []byte("//go:build ")) {
					constraint = string(line)
				}
			}
			never := strings.Contains(constraint, "!gprof_portable && !"+version)
			stands := strings.Contains(constraint, "gprof_portable || "+version)
			if strings.Contains(constraint, "gprof_portable") && never == stands {
				t.Errorf("%s: %swant %s beside gprof_portable", name, constraint, version)
			}
			if strings.HasPrefix(filepath.ToSlash(name), "internal/signalcall/") { // for tests
				return nil
			}
			trick := filepath.Ext(name) == ".s" || bytes.Contains(text, []byte("\n//go:linkname ")) && !strings.HasSuffix(name, "_test.go")
			if trick && !never {
				t.Errorf("%s: built for versions of Go that nobody has verified", name)
			}
			if trick {
				tricks++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if tricks < 10 {
		t.Errorf("%d files with tricks", tricks)
	}
}
