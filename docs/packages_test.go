package docs_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/doc"
	"go/parser"
	"go/token"
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
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no table of packages", file)
	}
	want := before + begin + strings.Join(packageRows(t), "\n") + end + after
	if want == string(text) {
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

// Each package that others may import shows by an example that runs what its user does.
func TestPackagesHaveExamples(t *testing.T) {
	for _, row := range packageRows(t) {
		name := strings.Split(row, "`")[1]
		if !isPublic(name) {
			continue
		}
		if !hasExample(t, filepath.Join(root, name)) {
			t.Errorf("package %s has no example that runs", name)
		}
	}
}

// isPublic tells the packages that others may import from commands, and from what is not the product.
func isPublic(name string) bool {
	for _, part := range strings.Split(name, "/") {
		if part == "internal" {
			return false
		}
	}
	switch top, _, _ := strings.Cut(name, "/"); top {
	case "bench", "fixtures":
		return false
	case "cmd":
		return path.Base(name) == "app"
	}
	return true
}

// hasExample reports whether the tests in a directory have an example that runs: one with a comment that says its output.
func hasExample(t *testing.T, dir string) bool {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, example := range doc.Examples(file) {
			if example.Output != "" || example.EmptyOutput {
				return true
			}
		}
	}
	return false
}
