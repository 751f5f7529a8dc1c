package ingest

import (
	"bytes"
	"slices"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"gprof/stream"
)

// Each case is a process of which chunks from before its range start are there,
// and what is shown of them, with and without --keep-expired.
func TestGone(t *testing.T) {
	eachCase(t, "gone", func(t *testing.T, session string) []txtar.File {
		return slices.Concat(shown(t, "", session, Options{}), shown(t, "-keep-expired", session, Options{KeepExpired: true}))
	})
}

func shown(t *testing.T, suffix, session string, o Options) []txtar.File {
	t.Helper()
	text, tables := textOf(t, []string{session}, o)
	var lines []byte
	for line := range bytes.Lines(text) {
		if word, _, _ := bytes.Cut(line, []byte(" ")); !slices.Contains([]string{"begin\n", "process", "ledger", "close\n"}, string(word)) {
			lines = append(lines, line...)
		}
	}
	return []txtar.File{{Name: "expect/events" + suffix, Data: lines}, {Name: "expect/ledger" + suffix, Data: ledgerText(tables, stream.ReasonExpired)}}
}
