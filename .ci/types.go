// Command types checks the types of a module for another platform, tests too, from source. Nothing is
// compiled: that would take ten times as long. Usage: go run .ci/types.go MODULE GOOS/GOARCH...
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// listed is a package as `go list` tells of it.
type listed struct {
	ImportPath, Dir, Name string
	GoFiles               []string
	ImportMap             map[string]string
	Module                *struct{ GoVersion, Path string }
	DepOnly               bool
}

func main() {
	failed := false
	for _, platform := range os.Args[2:] {
		if err := check(os.Args[1], platform); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", platform, err)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

// check checks packages in the order of go list, in which each comes after those that it imports.
func check(module, platform string) error {
	goos, goarch, _ := strings.Cut(platform, "/")
	cmd := exec.Command("go", "list", "-C", module, "-deps", "-test", "-json=ImportPath,Dir,Name,GoFiles,ImportMap,Module,DepOnly", "./...")
	cmd.Env, cmd.Stderr = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0"), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	checked := map[string]*types.Package{"unsafe": types.Unsafe}
	files := token.NewFileSet()
	var found []error
	for packages := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := packages.Decode(&p); err == io.EOF {
			return errors.Join(found...)
		} else if err != nil {
			return err
		}
		if p.ImportPath == "unsafe" || strings.HasSuffix(p.ImportPath, ".test") {
			continue // a test's own main is made when it is built
		}
		conf := types.Config{
			Importer: importer(func(path string) (*types.Package, error) {
				if to := p.ImportMap[path]; to != "" {
					path = to
				}
				if known := checked[path]; known != nil {
					return known, nil
				}
				return nil, fmt.Errorf("%s is not listed", path)
			}),
			Sizes:            types.SizesFor("gc", goarch),
			IgnoreFuncBodies: p.DepOnly,
			Error: func(err error) {
				if !p.DepOnly {
					found = append(found, err)
				}
			},
		}
		if p.Module != nil && p.Module.GoVersion != "" {
			conf.GoVersion = "go" + p.Module.GoVersion
		}
		path, _, _ := strings.Cut(p.ImportPath, " ")
		checked[p.ImportPath], _ = conf.Check(path, files, parsed(files, &p, &found), nil)
	}
}

type importer func(path string) (*types.Package, error)

func (i importer) Import(path string) (*types.Package, error) { return i(path) }

func parsed(files *token.FileSet, p *listed, found *[]error) (syntax []*ast.File) {
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			*found = append(*found, err)
			continue
		}
		syntax = append(syntax, f)
	}
	return syntax
}
