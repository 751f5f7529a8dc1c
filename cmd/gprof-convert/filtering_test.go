package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"gprof/convert"
	"gprof/fixtures"
)

// hand is the recording that is counted by hand.
func hand(t *testing.T) string {
	t.Helper()
	ar, err := txtar.ParseFile("testdata/recordings/handler.txtar")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "hand")
	if err := fixtures.Build(dir, ar); err != nil {
		t.Fatal(err)
	}
	return dir
}

// contentOf is what a conversion writes, unpacked: of a directory, all files.
func contentOf(t *testing.T, input string, f convert.Format, flags ...string) (content []byte, said string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	args := append([]string{input, "-o", f.Name + "=" + out}, flags...)
	if f.Directory() {
		args = append(args, "--compression", "none")
	}
	var stdout, stderr bytes.Buffer
	if code := run(args, strings.NewReader(""), &stdout, &stderr); code != 0 {
		t.Fatalf("gprof-convert %q: exit code %d\n%s", args, code, stderr.String())
	}
	err := filepath.WalkDir(out, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasSuffix(path, ".sql") {
			return err
		}
		data, err := os.ReadFile(path)
		content = append(content, unzipped(data)...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return content, stderr.String()
}

func unzipped(data []byte) []byte {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return data
	}
	out, err := io.ReadAll(z)
	if err != nil {
		return data
	}
	return out
}

// Filters work for every format, with the same result: what is left out is
// nowhere in the output. Pictures show functions alone, in png as pixels.
func TestFiltersOfAllFormats(t *testing.T) {
	input := hand(t)
	for _, f := range convert.Formats() {
		t.Run(f.Name, func(t *testing.T) {
			all, said := contentOf(t, input, f)
			contents := func(samples, markers int) string {
				if f.Kinds != nil {
					return fmt.Sprintf("%d samples", samples)
				}
				return fmt.Sprintf("%d samples, %d markers", samples, markers)
			}
			if !strings.Contains(said, contents(6, 4)) {
				t.Errorf("without a filter: %s", said)
			}
			some, said := contentOf(t, input, f, "--during", "request[status=200]", "--track", "main.*", "--tagroot", "zone")
			bare := f.Name == "pgo" // of calls that the recording does not place
			if !strings.Contains(said, contents(3, 2)) || bytes.Equal(some, all) != bare {
				t.Errorf("with filters: %s", said)
			}
			if f.Name == "png" || bare {
				return
			}
			for _, text := range []string{"main.read", "zone:eu"} {
				if !bytes.Contains(some, []byte(text)) {
					t.Errorf("%s is not in the output", text)
				}
			}
			for _, text := range []string{"worker", "/quick"} {
				if bytes.Contains(some, []byte(text)) {
					t.Errorf("%s is in the output, but was not asked for", text)
				}
			}
			if f.Name != "svg" && !bytes.Contains(all, []byte("worker")) && !bytes.Contains(all, []byte("/quick")) {
				t.Error("without a filter there is neither: the test proves nothing")
			}
		})
	}
}

// Outputs of filters do not depend on the number of jobs.
func TestFiltersJobs(t *testing.T) {
	input := hand(t)
	f, _, err := convert.ByFormat("gecko")
	if err != nil {
		t.Fatal(err)
	}
	flags := []string{"--during", "*", "--last", "150ns", "--tracks", "thread", "--tagroot", "track"}
	want, _ := contentOf(t, input, f, append(flags, "--jobs", "1")...)
	if got, _ := contentOf(t, input, f, append(flags, "--jobs", "7")...); !bytes.Equal(got, want) {
		t.Error("7 jobs give other bytes than 1")
	}
}
