package docs_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the table of packages")

// packages.md lists each package with the first sentence of its comment.
func TestPackagesAreListed(t *testing.T) {
	const file, begin, end = "packages.md", "| package | what it is |\n|---|---|\n", "\n\n"
	doc, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(doc), begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no table of packages", file)
	}
	want := before + begin + strings.Join(packageRows(t), "\n") + end + after
	if want == string(doc) {
		return
	}
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, row := range packageRows(t) {
		if !strings.Contains(rest, row+"\n") {
			t.Errorf("docs/%s lacks %s", file, row)
		}
	}
	t.Errorf("docs/%s does not say what package comments say: go test ./docs -run PackagesAreListed -update", file)
}

// packageRows are the rows of the table, sorted by package, for all modules.
func packageRows(t *testing.T) (rows []string) {
	t.Helper()
	if err := filepath.WalkDir(root, seen); err != nil {
		t.Fatal(err)
	}
	modules, err := exec.Command(filepath.Join(root, ".ci/modules")).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range strings.Fields(string(modules)) {
		list := exec.Command("go", "list", "-f", "{{.ImportPath}}\t{{.Name}}\t{{.Doc}}", "./...")
		list.Dir = filepath.Join(root, dir)
		out, err := list.Output()
		if err != nil {
			t.Fatalf("go list in %s: %v", dir, err)
		}
		for line := range bytes.Lines(out) {
			cells := strings.SplitN(strings.TrimSpace(string(line)), "\t", 3)
			if len(cells) < 3 {
				continue // it holds tests alone
			}
			name := strings.TrimPrefix(cells[0], "gprof/")
			is := strings.TrimPrefix(cells[2], "Package "+cells[1]+" ")
			if base := path.Base(name); cells[1] == "main" {
				is = strings.TrimPrefix(is, strings.ToUpper(base[:1])+base[1:]+" ")
			}
			rows = append(rows, fmt.Sprintf("| `%s` | %s |", name, strings.TrimRight(is, ".:")))
		}
	}
	slices.SortFunc(rows, func(a, b string) int {
		return strings.Compare(strings.ReplaceAll(a, "`", ""), strings.ReplaceAll(b, "`", ""))
	})
	return rows
}
