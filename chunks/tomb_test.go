package chunks

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gprof/rawformat"
)

// wantTomb wants an instance of which only a tomb is left, which says how much went.
func wantTomb(t *testing.T, dir string) {
	t.Helper()
	p, err := OpenProcess(os.DirFS(filepath.Dir(dir)), filepath.Base(dir))
	if err != nil {
		t.Error(err)
		return
	}
	chunks, bytes := p.Discarded()
	if !isTomb(dir) || !p.Removed() || chunks == 0 || uint64(chunks) != p.Exit.Discarded || uint64(bytes) != p.Exit.RangeEnd || len(p.Problems) > 0 {
		t.Errorf("%s: %d chunks, %d bytes, exit %+v, problems %v", dir, chunks, bytes, p.Exit, p.Problems)
	}
}

// makeTomb has an instance entombed.
func makeTomb(t *testing.T, dir string, instance uint64, discarded uint64) {
	t.Helper()
	must(t, os.MkdirAll(dir, 0o700))
	x := &Exit{Reason: rawformat.ExitNormal, RangeStart: 9000, RangeEnd: 9000, Discarded: discarded}
	r := &remains{dir: dir, p: &Process{Instance: instance, Pid: 7, Exit: x, Meta: []Meta{
		{rawformat.MetaPid, "7"}, {rawformat.MetaArg, strings.Repeat("long", 1000)}, {rawformat.MetaService, "shop"}}}}
	for i := range 100 {
		r.p.Meta = append(r.p.Meta, Meta{fmt.Sprintf("attr.%d", i), strings.Repeat("x", 200)})
	}
	must(t, r.writeExit(x))
	must(t, os.WriteFile(filepath.Join(dir, "stacks-3"), nil, 0o600))
	must(t, os.WriteFile(filepath.Join(dir, lockName), nil, 0o600))
	must(t, r.entomb())
}

// A session keeps the newest tombs, and they are small. One whose process discarded
// nothing is none.
func TestTombsAreFew(t *testing.T) {
	session := t.TempDir()
	dir := func(i int) string { return filepath.Join(session, fmt.Sprintf("%016x", i)) }
	for i := 1; i <= maxTombs+5; i++ {
		makeTomb(t, dir(i), uint64(i), 1)
		at := time.Unix(int64(1_000_000+i), 0)
		must(t, os.Chtimes(filepath.Join(dir(i), exitName), at, at))
	}
	must(t, buryOldest(session))
	for i := 1; i <= maxTombs+5; i++ {
		if isTomb(dir(i)) != (i > 5) {
			t.Errorf("tomb %d: %v", i, isTomb(dir(i)))
		}
	}
	wantTomb(t, dir(9))
	p, err := OpenProcess(os.DirFS(session), fmt.Sprintf("%016x", 9))
	must(t, err)
	if size := sessionBytes(dir(9)); size > 4096 || len(p.Meta) < 3 || p.Meta[0].Value != "7" || p.Meta[1].Value != "shop" || p.Pid != 7 {
		t.Errorf("a tomb of %d bytes: %+v", size, p.Meta)
	}
	makeTomb(t, dir(99), 99, 0)
	if isTomb(dir(99)) {
		t.Error("nothing was discarded, and there is a tomb")
	}
}
