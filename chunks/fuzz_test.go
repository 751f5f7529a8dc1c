package chunks

import (
	"bytes"
	"strings"
	"testing"

	"gprof/rawformat"
)

// FuzzReader: no chunk file panics the reader; its blocks ascend and lie in the
// committed part, and reading again, or in runs, gives the same.
func FuzzReader(f *testing.F) {
	for _, data := range fixtureFiles() {
		f.Add(data)
	}
	a, b := straddling(100)
	f.Add(a.file())
	f.Add(b.close().file())
	f.Fuzz(func(t *testing.T, data []byte) {
		fixCRC(data)
		blocks, problems := readBytes(t, data)
		last := uint64(0)
		for _, d := range blocks {
			if d.index <= last || len(d.body) == 0 || len(d.body) > len(data) {
				t.Fatalf("block %q at %d behind %d", d.body, d.index, last)
			}
			last = d.index
		}
		again, _ := readBytes(t, data)
		if len(again) != len(blocks) {
			t.Fatalf("%d blocks, then %d; %v", len(blocks), len(again), problems)
		}
		sameRuns(t, dirOf(map[string][]byte{"chunk-00000": data}))
	})
}

// fixCRC makes most headers valid, so that the code after the check is reached.
func fixCRC(data []byte) {
	if len(data) < rawformat.HeadSize || data[0]%16 == 0 {
		return
	}
	copy(data, rawformat.MagicChunk)
	data[4], data[5] = 0, 0
	h, _, _ := rawformat.ReadHeader(data)
	h.Capacity = min(h.Capacity, uint32(len(data)))
	h.FirstBlock = min(h.FirstBlock, h.Capacity)
	rawformat.PutHeader(data, &h)
}

// FuzzDict: no dictionary panics the reader, and no record is longer than the
// file.
func FuzzDict(f *testing.F) {
	for _, data := range recordFiles() {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p := mustOpen(t, dirOf(map[string][]byte{"dict-001": data, "meta": testRecords(rawformat.MagicMeta, 0)}))
		size := 0
		for _, d := range p.Dicts {
			for _, r := range d.All(nil) {
				if size += len(r.Body); r.Off < 0 || !bytes.HasPrefix(data[r.Off:], r.Body) {
					t.Fatalf("record at %d is not there", r.Off)
				}
			}
		}
		if size > len(data) {
			t.Fatalf("%d bytes of records in %d bytes", size, len(data))
		}
	})
}

// FuzzText: every file can be restored from its text, and every valid text from its file.
func FuzzText(f *testing.F) {
	for _, data := range fixtureFiles() {
		f.Add(data)
	}
	for _, data := range recordFiles() {
		f.Add(data)
		f.Add([]byte(textOf(f, data)))
	}
	f.Add([]byte("gprC epoch=1 capacity=100\nsealed 1\nlog time=+1 level=0 text=\"x\"\nuncommitted\nzero 3\ncut\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		textOf(t, data)
		text := string(data)
		if strings.Count(text, wordZero) > 3 {
			return // each stands for up to 1 MiB
		}
		if file, err := ParseFile(text); err == nil {
			textOf(t, file)
		}
	})
}
