package recorder_test

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gprof/chunks/mapping"
	"gprof/rawformat"
	"gprof/recorder"
)

// overwrite puts a word into a file of a recording. Files come and go meanwhile.
func overwrite(name string, at int64, v uint64) {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return
	}
	defer f.Close()
	f.WriteAt(binary.LittleEndian.AppendUint64(nil, v), at) // a file that is full is as good
}

// Somebody writes an impossible commit into each chunk. The recording goes on, and
// nothing of it is lost: writers and sealer know how far they are.
func TestHostileCommit(t *testing.T) {
	rec := begin(t, recorder.Options{})
	for _, commit := range []uint64{1 << 20, 1<<32 - 1, 1<<64 - 1} {
		for n := range 500 {
			acked.Mark(n, "abc")
		}
		names, _ := filepath.Glob(filepath.Join(rec.Dir(), "chunk-*"))
		if len(names) == 0 {
			t.Fatal("no chunks")
		}
		for _, name := range names {
			overwrite(name, rawformat.OffCommit, commit)
		}
		if _, err := rec.Snapshot(t.TempDir(), 0); err != nil { // the keeper has been there
			t.Fatal(err)
		}
	}
	if r := finish(t, rec); len(r.of("acked")) != 1500 {
		t.Errorf("%d markers, want 1500", len(r.of("acked")))
	}
}

// attack is one write into a file of a running recorder: which of its files, where in
// it, and what. It takes 12 bytes.
type attack struct {
	file, how byte
	at        uint16
	value     uint64
}

// Ways of an attack.
const (
	toHead     = iota // a word of the first 512 bytes
	toSlot            // a word behind the first page
	anywhere          // a word of the whole file
	cutShort          // the file gets shorter
	numAttacks = iota
)

func (a attack) on(name string) {
	switch a.how % numAttacks {
	case toHead:
		overwrite(name, int64(a.at%64)*8, a.value)
	case toSlot:
		overwrite(name, rawformat.PageSize+int64(a.at%512)*8, a.value)
	case anywhere:
		if info, err := os.Stat(name); err == nil && info.Size() > 8 {
			overwrite(name, int64(a.at)*8%(info.Size()-7), a.value)
		}
	case cutShort:
		if info, err := os.Stat(name); err == nil {
			os.Truncate(name, min(info.Size(), int64(a.at)*16)) // it may be gone
		}
	}
}

func attacks(data []byte) (all []attack) {
	for ; len(data) >= 12 && len(all) < 200; data = data[12:] {
		all = append(all, attack{data[0], data[1], binary.LittleEndian.Uint16(data[2:]), binary.LittleEndian.Uint64(data[4:])})
	}
	return all
}

// onAll is the same attack on many files.
func onAll(dst []byte, how byte, at int, value uint64) []byte {
	for file := range byte(24) {
		dst = binary.LittleEndian.AppendUint16(append(dst, file, how), uint16(at/8))
		dst = binary.LittleEndian.AppendUint64(dst, value)
	}
	return dst
}

// FuzzHostileFiles: whatever somebody writes into the files of a running recorder, it
// neither panics nor stops recording, other than by a fault that is not caught.
func FuzzHostileFiles(f *testing.F) {
	const huge, most = 1 << 40, 1<<64 - 1
	f.Add(onAll(onAll(nil, toHead, rawformat.OffCommit, most), toHead, rawformat.OffState, most))
	f.Add(onAll(onAll(nil, toHead, rawformat.OffEpoch, huge), anywhere, rawformat.HeadSize, most))
	f.Add(onAll(onAll(nil, toHead, rawformat.OffStacksHead, huge), toHead, rawformat.OffStacksLost, huge))
	f.Add(onAll(onAll(nil, toHead, rawformat.OffStacksTail, most), toSlot, 0, 0xffff))
	f.Add(onAll(onAll(nil, toHead, rawformat.OffControlLimit, 1), toHead, rawformat.OffControlSlots, most))
	f.Add(onAll(onAll(nil, toSlot, rawformat.OffSlotRequest, most>>1), toSlot, rawformat.OffSlotHeld, most))
	f.Add(onAll(onAll(nil, toSlot, rawformat.OffSlotInstance, 0), toSlot, rawformat.SlotSize, huge))
	f.Add(onAll(onAll(nil, cutShort, 0, 0), cutShort, rawformat.PageSize, 0))
	f.Fuzz(func(t *testing.T, data []byte) {
		rec := begin(t, recorder.Options{Limit: 4 << 20, CounterHz: 10})
		list := func() []string {
			names, _ := filepath.Glob(filepath.Join(rec.Dir(), "*"))
			return append(names, filepath.Join(rec.Session(), "control"))
		}
		out := t.TempDir()
		round := func() {
			for n := range 200 {
				acked.Mark(n, "abc")
			}
			rec.Snapshot(out, 1) // it may complain; the keeper has been there
			rec.Stats()
		}
		round()
		for n, a := range attacks(data) {
			names := list()
			a.on(names[int(a.file)%len(names)])
			if n%16 == 15 {
				round()
			}
		}
		round()
		if err := rec.Err(); err != nil && (!errors.Is(err, mapping.ErrCut) || mapping.CatchFaults() == nil) {
			t.Errorf("the recording ended: %v", err)
		}
		if err := rec.Stop(); err != nil && strings.Contains(err.Error(), "internal error") {
			t.Error(err)
		}
	})
}
