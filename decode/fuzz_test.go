package decode_test

import (
	"strings"
	"testing"

	"gprof/fixtures"
	"gprof/rawformat"
)

// FuzzDecode: whatever the blocks and definitions of intact files say, decoding
// ends without a panic, and what comes out satisfies the rules of the waist.
func FuzzDecode(f *testing.F) {
	f.Add("def-event id=1 category=0 name=\"e\" display=3 chart=\"\" tooltip=\"\" table=\"\"\ndef-stack id=1 parent=1 frame=1",
		"instant event=1 stack=2 time=+10 args=(1 \"x\")\nstack pcs=[0x1 0x2]\nend event=1 stack=1 time=-900 args=()\nblock 04ff")
	f.Add("def-graph event=1 position=3 shape=1 color=\"red\"\ndef-event id=1 category=0 name=\"e\" display=3 chart=\"\" tooltip=\"\" table=\"\"\n"+
		"def-field event=1 position=2 name=\"f\" label=\"\" wire=0 format=22 privacy=0 flags=9\ndef-graph event=1 position=1 shape=1 color=\"red\"\ndef-show event=1 flags=1 description=\"d\" type=\"t\"",
		"instant event=1 stack=0 time=+10 args=(1 2u -9223372036854775808)")
	f.Add("def-string id=1 text=\"main.work\"\ndef-root start=4096 name=1\ndef-event id=1 category=0 name=\"e\" display=3 chart=\"\" tooltip=\"\" table=\"\"\n"+
		"def-field event=1 position=0 name=\"f\" label=\"\" wire=3 format=2 privacy=0 flags=16",
		"context goroutine=7 track=0 root=0\nbegan start=4096\nplaced event=1 stack=0 time=+10 phase=1 shift=-9223372036854775808 duration=18446744073709551615 args=(\"x\")\n"+
			"began start=9\nplaced event=1 stack=0 time=+10 phase=2 shift=+7 duration=0 args=(1)")
	f.Fuzz(func(t *testing.T, dict, blocks string) {
		r, err := fixtures.New(t.TempDir(), fixtures.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(dict) {
			r.Define(strings.TrimSuffix(line, "\n")) // a line that is none is no definition
		}
		for line := range strings.Lines(blocks) {
			body, err := rawformat.ParseBlock(nil, strings.TrimSuffix(line, "\n"))
			if err != nil || len(body) > rawformat.PageSize {
				continue
			}
			if err := r.Put(body); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		copyText(t, r.Dir)
	})
}
