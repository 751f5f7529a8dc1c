package decode_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gprof/fixtures"
)

// A repeated sample stands in the chunk of the one that it repeats. In a later
// chunk it is dropped and counted, whether the chunk before is there or gone.
func TestRepeatedInTheNextChunk(t *testing.T) {
	r, err := fixtures.New(t.TempDir(), fixtures.Options{})
	if err != nil {
		t.Fatal(err)
	}
	line := func(text string) {
		t.Helper()
		if err := r.Lines(text); err != nil {
			t.Fatal(err)
		}
	}
	line(`stack pcs=[0x20 0x10]`)
	line(`sample time=+10 thread=5 goroutine=0 track=0 stack=1 weight=1 cpu=1 window=0`)
	line(`same-sample time=+10 thread=5 goroutine=0 weight=1 cpu=1`)
	for range 70 { // more than a chunk
		line(fmt.Sprintf(`log time=+10 level=0 text=%q`, strings.Repeat("x", 1000)))
	}
	line(`same-sample time=+10 thread=5 goroutine=0 weight=1 cpu=1`)
	line(`stack pcs=[0x20 0x10]`)
	line(`sample time=+10 thread=5 goroutine=0 track=0 stack=1 weight=1 cpu=1 window=0`)
	line(`same-sample time=+10 thread=5 goroutine=0 weight=1 cpu=1`)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	check := func(what string, samples int) {
		t.Helper()
		events, ledger := copyText(t, r.Dir)
		if n := strings.Count(string(events), "weight 1 "); n != samples || !strings.Contains(string(ledger), "no-stack samples  count=1 ") {
			t.Errorf("%s: %d samples, want %d\n%s", what, n, samples, ledger)
		}
	}
	check("whole", 4)
	first, err := filepath.Glob(filepath.Join(r.Dir, "chunk-*"))
	if err != nil || len(first) < 2 {
		t.Fatal(first, err)
	}
	if err := os.Remove(first[0]); err != nil {
		t.Fatal(err)
	}
	check("without the first chunk", 2)
}
