package ingest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gprof/chunks"
	"gprof/chunks/folder"
	"gprof/fixtures"
	"gprof/rawformat"
	"gprof/stream"
)

// entomb leaves of a recording what a session leaves of one whose last chunk made way.
func entomb(t *testing.T, w *tape, instance uint64) {
	t.Helper()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(w.Dir, "[cd]*-*")) // chunks and dictionary
	for _, name := range names {
		err = errors.Join(err, os.Remove(name))
	}
	body := []byte{byte(rawformat.KindExit)}
	body = rawformat.AppendSint(rawformat.AppendUint(body, 3_000_000_000), fixtures.Realtime+2_000_000_000)
	body = rawformat.AppendSint(rawformat.AppendUint(body, uint64(rawformat.ExitSignal)), 9)
	body = rawformat.AppendFixed(body, 0)
	for _, v := range []uint64{0, 70_000, 70_000, 4} {
		body = rawformat.AppendUint(body, v)
	}
	h := rawformat.RecordHeader{Magic: rawformat.MagicExit, Version: rawformat.Version, Instance: instance, Pid: 8}
	if err := errors.Join(err, chunks.WriteRecords(folder.Dir(w.Dir), "exit", h, rawformat.AppendText(body, ""))); err != nil {
		t.Fatal(err)
	}
}

// The ledger has one line for each process of which a ring or a session discarded
// chunks: how much, from when to when. It is no loss, and packing keeps it.
func TestDiscards(t *testing.T) {
	session := t.TempDir()
	turned := newTape(t, session, fixtures.Options{Limit: 6 * rawformat.ChunkAlign})
	turned.write(t, 40000)
	if err := turned.Close(); err != nil {
		t.Fatal(err)
	}
	gone := newTape(t, session, fixtures.Options{Instance: 2, Pid: 8})
	gone.write(t, 100)
	entomb(t, gone, 2)
	for i, why := range []string{rawformat.MadeWayExpired, rawformat.MadeWayOrphan, "<b>of later versions</b>"} {
		child := newTape(t, session, fixtures.Options{Instance: uint64(3 + i), Pid: 8, Meta: []chunks.Meta{{Key: rawformat.MetaMadeWay, Value: why}}})
		child.write(t, 100)
		entomb(t, child, uint64(3+i))
	}

	packed := filepath.Join(t.TempDir(), "packed.gprof")
	found, err := Find([]string{session}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	file, err := os.Create(packed)
	if err == nil {
		_, err = found.Pack(file, PackOptions{})
	}
	if err = errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
	unpacked := t.TempDir()
	if err := found.Unpack(unpacked, func(err error) { t.Error(err) }); err != nil {
		t.Fatal(err)
	}
	for _, inputs := range [][]string{{session}, {packed}, {unpacked}, {session, packed}} {
		got := readTape(t, inputs...)
		lines := got.lines(stream.ReasonDiscarded)
		if len(lines) != 5 || len(got.tables.Processes) != 1 {
			t.Fatalf("%v: %d processes, %+v", inputs, len(got.tables.Processes), lines)
		}
		left := int64(len(got.seen))
		if first := 40000 - left; lines[0].Count < 2 || lines[0].Bytes/lines[0].Count < first*10/lines[0].Count || !strings.HasPrefix(lines[0].Where, "from 2026-01-01 00:00:00.000 to 2026-01-01 00:00:00.0") {
			t.Errorf("%v: %d events are left: %+v", inputs, left, lines[0])
		}
		for i, why := range []string{"", ": it ended cleanly, and its parent held nothing from that time any more", ": it ended cleanly, and its parent was gone", ""} {
			want := stream.Line{Process: fmt.Sprintf("%016x", i+2), Reason: stream.ReasonDiscarded, What: "chunks", Where: "all of pid 8, from 2026-01-01 00:00:00.000 to 2026-01-01 00:00:02.000 UTC" + why, Count: 4, Bytes: 70_000}
			if lines[i+1] != want {
				t.Errorf("%v: %+v, want %+v", inputs, lines[i+1], want)
			}
		}
		if len(inputs) == 1 {
			if worst, _ := got.tables.Ledger.Worst(); worst != stream.Info {
				t.Errorf("%v: the ledger is of severity %v: %+v", inputs, worst, got.tables.Ledger.Lines())
			}
		}
	}
	sliced, err := os.Create(filepath.Join(t.TempDir(), "sliced.gprof"))
	if err == nil {
		_, err = found.Pack(sliced, PackOptions{Span: PackSpan{From: fixtures.Realtime + 1e15, To: fixtures.Realtime + 2e15}})
	}
	if err = errors.Join(err, sliced.Close()); err != nil {
		t.Fatal(err)
	}
	if lines := readTape(t, sliced.Name()).lines(stream.ReasonDiscarded); len(lines) == 0 || !strings.HasPrefix(lines[0].Where, "from 2026-01-01 00:00:00.000 to 2026-01-01 00:00:00.0") {
		t.Errorf("what a slice leaves out was not discarded: %+v", lines)
	}
	if err := os.RemoveAll(turned.Dir); err != nil {
		t.Fatal(err)
	}
	if _, err := Find([]string{session}, Options{}); !errors.Is(err, ErrNothing) || !strings.Contains(err.Error(), "a larger limit keeps more") {
		t.Errorf("with nothing but a tomb: %v", err)
	}
}
