package ingest

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"gprof/decode"
	"gprof/fixtures"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// FuzzTimeline: whatever the clocks of three processes showed, the map of those
// that share one never falls.
func FuzzTimeline(f *testing.F) {
	f.Add([]byte("0123456789abcdef0123456789abcdef0123456789abcdef"), uint8(3))
	f.Fuzz(func(t *testing.T, data []byte, scale uint8) {
		var anchors [3][]decode.Anchor
		for i := 0; len(data) >= 16; i, data = i+1, data[16:] {
			shift := scale % 48
			a := decode.Anchor{Monotonic: 1 + binary.LittleEndian.Uint64(data)>>(2+shift), Realtime: 1 + int64(binary.LittleEndian.Uint64(data[8:])>>(2+shift))}
			anchors[i%3] = decode.MergeAnchors(anchors[i%3], []decode.Anchor{a})
		}
		var own []*timeline
		for _, a := range anchors {
			if len(a) > 0 {
				own = append(own, newTimeline(a))
			}
		}
		if len(own) == 0 {
			return
		}
		slices.SortFunc(own, func(a, b *timeline) int { return int(int64(a.first()) - int64(b.first())) })
		line := own[0]
		for _, o := range own[1:] {
			line.join(o)
		}
		rises(t, line.clock(), line, rand.New(rand.NewPCG(1, 1)))
		for i := range len(line.stretches) - 1 {
			line.step(i)
		}
	})
}

// FuzzSession: whatever the files of a session say, they are read without a
// panic, and what comes out satisfies the rules of the waist, with anything that
// may expire.
func FuzzSession(f *testing.F) {
	for _, pattern := range []string{"testdata/*/*.txtar"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			f.Fatal("no recordings", err)
		}
		for _, name := range names {
			ar, err := txtar.ParseFile(name)
			if err != nil {
				f.Fatal(err)
			}
			ar.Files = slices.DeleteFunc(ar.Files, func(file txtar.File) bool { return filepath.Dir(file.Name) == "expect" })
			f.Add(txtar.Format(ar))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if bytes.Contains(data, []byte("-- --")) { // at such a line Parse panics
			return
		}
		ar := txtar.Parse(data)
		for _, file := range ar.Files {
			if !filepath.IsLocal(file.Name) || len(ar.Files) > 50 {
				return
			}
		}
		session := t.TempDir()
		if fixtures.Build(session, ar) != nil {
			return
		}
		src, found, err := Open([]string{session}, Options{ExpireCrashed: true, ExpireAfter: time.Minute})
		if err != nil {
			return
		}
		defer found.Close()
		var c stream.Count
		if err := stream.Copy(streamtest.Validate(&c), src, stream.CopyOptions{}); err != nil {
			t.Fatal(err)
		}
	})
}
