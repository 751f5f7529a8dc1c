package ingest

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gprof/stream"
)

// snapshotOf is an execution trace of the generations from first to last, of a
// second each, in which nothing happens.
func snapshotOf(first, last uint64) []byte {
	const kindBatch, kindFrequency, kindSync, kindSnapshot, kindEnd = 1, 8, 50, 51, 52
	const second = 1_000_000_000
	data := []byte("go 1.26 trace\x00\x00\x00")
	numbers := func(b []byte, all ...uint64) []byte {
		for _, n := range all {
			b = binary.AppendUvarint(b, n)
		}
		return b
	}
	for n := first; n <= last; n++ {
		sync := numbers([]byte{kindSync, kindFrequency}, second)
		sync = numbers(append(sync, kindSnapshot), 0, n*second, 1_700_000_000+n, 0)
		data = numbers(append(data, kindBatch), n, ^uint64(0), n*second, uint64(len(sync)))
		data = append(append(data, sync...), kindEnd)
	}
	return data
}

// Snapshots of one flight recorder overlap. Shared parts are read from the
// snapshot that began first, in whatever order they come, and the ledger tells.
func TestSnapshotsOverlap(t *testing.T) {
	dir := t.TempDir()
	var inputs []string
	for name, data := range map[string][]byte{"a": snapshotOf(1, 3), "b": snapshotOf(2, 5), "within": snapshotOf(3, 4), "other": snapshotOf(9, 9)} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, path)
	}
	slices.Sort(inputs)
	for range inputs {
		inputs = append(inputs[1:], inputs[0])
		src, found, err := Open(inputs, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var count stream.Count
		if err := stream.Copy(&count, src, stream.CopyOptions{}); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, p := range found.Processes {
			names = append(names, filepath.Base(p.Location))
		}
		if diff := cmp.Diff([]string{"a", "b", "other"}, names); diff != "" {
			t.Errorf("%v: -want +got\n%s", inputs, diff)
		}
		twice := map[string]int64{}
		for _, l := range count.Tables.Ledger.Lines() {
			if l.Reason == stream.ReasonDuplicate {
				twice[l.What] += l.Count
			}
		}
		if diff := cmp.Diff(map[string]int64{"generations of the execution trace": 2, "processes": 1}, twice); diff != "" {
			t.Errorf("%v: given twice: -want +got\n%s", inputs, diff)
		}
		found.Close()
	}
}
