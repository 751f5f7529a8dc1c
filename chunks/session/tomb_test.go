package session

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gprof/chunks"
	"gprof/rawformat"
)

// makeTomb makes a tomb of an instance.
func makeTomb(t *testing.T, dir string, instance uint64, discarded uint64) {
	t.Helper()
	must(t, os.MkdirAll(dir, 0o700))
	x := &chunks.Exit{Reason: rawformat.ExitNormal, RangeStart: 9000, RangeEnd: 9000, Discarded: discarded}
	r := &remains{dir: dir, p: &chunks.Process{Instance: instance, Pid: 7, Exit: x, Meta: []chunks.Meta{
		{Key: rawformat.MetaPid, Value: "7"}, {Key: rawformat.MetaArg, Value: strings.Repeat("long", 1000)}, {Key: rawformat.MetaService, Value: "shop"}}}}
	for i := range 100 {
		r.p.Meta = append(r.p.Meta, chunks.Meta{Key: fmt.Sprintf("attr.%d", i), Value: strings.Repeat("x", 200)})
	}
	must(t, r.writeExit(x))
	must(t, os.WriteFile(filepath.Join(dir, "stacks-3"), nil, 0o600))
	must(t, os.WriteFile(filepath.Join(dir, chunks.LockName), nil, 0o600))
	must(t, r.entomb(""))
}

// A session keeps the newest tombs, and they are small. An instance that discarded nothing
// becomes none.
func TestTombsAreFew(t *testing.T) {
	session := t.TempDir()
	dir := func(i int) string { return filepath.Join(session, fmt.Sprintf("%016x", i)) }
	for i := 1; i <= maxTombs+5; i++ {
		makeTomb(t, dir(i), uint64(i), 1)
		at := time.Unix(int64(1_000_000+i), 0)
		must(t, os.Chtimes(filepath.Join(dir(i), chunks.ExitName), at, at))
	}
	must(t, buryOldest(session))
	for i := 1; i <= maxTombs+5; i++ {
		if isTomb(dir(i)) != (i > 5) {
			t.Errorf("tomb %d: %v", i, isTomb(dir(i)))
		}
	}
	p, err := chunks.OpenProcess(os.DirFS(session), fmt.Sprintf("%016x", 9))
	must(t, err)
	if gone, bytes := p.Discarded(); !p.Removed() || gone != 1 || bytes != 9000 || len(p.Problems) > 0 {
		t.Errorf("%d chunks, %d bytes, problems %v", gone, bytes, p.Problems)
	}
	if size := sizeOf(filepath.Join(dir(9), chunks.MetaName)) + sizeOf(filepath.Join(dir(9), chunks.ExitName)); size > 4096 || countFiles(t, dir(9)) != 2 || len(p.Meta) < 3 || p.Meta[0].Value != "7" || p.Meta[1].Value != "shop" || p.Pid != 7 {
		t.Errorf("a tomb of %d bytes: %+v", size, p.Meta)
	}
	makeTomb(t, dir(99), 99, 0)
	if isTomb(dir(99)) {
		t.Error("nothing was discarded, and there is a tomb")
	}
}

// All files of a process are removed with its directory, also unfinished ones.
func TestAllKindsAreOurs(t *testing.T) {
	for kind := chunks.MetaFile; kind < chunks.ControlFile; kind++ {
		if name := kind.FileName(7); !ours(name) || !ours(name+chunks.NewSuffix) {
			t.Errorf("%s is none of ours", name)
		}
	}
}
