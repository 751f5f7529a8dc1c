package ingest

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"gprof/fixtures"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// Each case is a process of which chunks from before its range start are there,
// and what is shown of them, with and without --keep-expired.
func TestGone(t *testing.T) {
	files, err := filepath.Glob("testdata/gone/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			session := t.TempDir()
			if err := fixtures.Build(session, ar); err != nil {
				t.Fatal(err)
			}
			compare(t, name, ar, slices.Concat(shown(t, "", session, Options{}), shown(t, "-keep-expired", session, Options{KeepExpired: true})))
		})
	}
}

func shown(t *testing.T, suffix, session string, o Options) []txtar.File {
	t.Helper()
	src, found, err := Open([]string{session}, o)
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	var text bytes.Buffer
	if err := stream.Copy(streamtest.Validate(streamtest.NewText(&text)), src, stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	var lines []byte
	for line := range bytes.Lines(text.Bytes()) {
		if word, _, _ := bytes.Cut(line, []byte(" ")); !slices.Contains([]string{"begin\n", "process", "ledger", "close\n"}, string(word)) {
			lines = append(lines, line...)
		}
	}
	return []txtar.File{{Name: "expect/events" + suffix, Data: lines}, {Name: "expect/ledger" + suffix, Data: ledgerText(src.Tables(), stream.ReasonExpired)}}
}
