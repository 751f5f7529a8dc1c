package ring

import (
	"bufio"
	"encoding/binary"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"gprof/chunks"
	"gprof/chunks/folder"
	"gprof/chunks/internal/chunktest"
	"gprof/chunks/session"
	"gprof/rawformat"
)

// recordUntilKilled writes blocks to a ring in dir, and the index of each to
// stdout once it is committed.
func recordUntilKilled(t *testing.T, dir string) {
	lock, err := session.Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close() // and is not collected before
	r, err := Open(folder.Dir(dir), testOptions(4))
	if err != nil {
		t.Fatal(err)
	}
	w := &writer{Ring: r}
	for i := 0; ; i++ {
		if !w.Log(strings.Repeat("x", i%200)) {
			t.Fatal("no chunk")
		}
		index := w.Put[len(w.Put)-1].Index
		w.Put = w.Put[:0]
		if _, err := os.Stdout.Write(binary.LittleEndian.AppendUint64(nil, index)); err != nil {
			t.Fatal(err)
		}
		if i%500 == 0 {
			if err := r.Maintain(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A process is killed while it writes. Everything that it said to be committed is there,
// from the range start on, and at most one block more.
func TestRingKilled(t *testing.T) {
	const env = "GPROF_TEST_RING"
	if dir := os.Getenv(env); dir != "" {
		recordUntilKilled(t, dir)
	}
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestRingKilled$")
	cmd.Env = append(os.Environ(), env+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	acks := bufio.NewReader(out)
	said := readIndexes(acks, 5000)
	if !session.Alive(dir) {
		t.Error("not alive while it writes")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	said = append(said, readIndexes(acks, 1<<30)...)
	if err := cmd.Wait(); err == nil {
		t.Error("it was not killed")
	}
	if session.Alive(dir) {
		t.Error("alive when killed")
	}
	checkKilled(t, dir, said)
}

// readIndexes reads up to n indexes.
func readIndexes(r io.Reader, n int) (all []uint64) {
	var b [8]byte
	for len(all) < n {
		if _, err := io.ReadFull(r, b[:]); err != nil {
			break
		}
		all = append(all, binary.LittleEndian.Uint64(b[:]))
	}
	return all
}

func checkKilled(t *testing.T, dir string, said []uint64) {
	p, err := chunks.OpenProcess(os.DirFS(dir), ".")
	if err != nil {
		t.Fatal(err)
	}
	blocks, problems := chunktest.ReadAll(t, p)
	for _, problem := range problems {
		if problem.Class != chunks.Unproven && problem.Class != chunks.Stale { // killed while it used a chunk again
			t.Errorf("problem %v", problem)
		}
	}
	var found []uint64
	for _, b := range blocks {
		if rawformat.Kind(b.Body[0]) == rawformat.KindLog {
			found = append(found, b.Index)
		}
	}
	from := p.Chunks[0].Header.RangeStart
	said = slices.DeleteFunc(said, func(index uint64) bool { return index < from })
	if from == 1 || len(said) < 100 || len(found)-len(said) > 1 || len(found) < len(said) || !slices.Equal(found[:len(said)], said) {
		t.Errorf("range from %d: %d blocks found, %d committed for sure", from, len(found), len(said))
	}
}
