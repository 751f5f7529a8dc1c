package chunks

import (
	"encoding/binary"
	"slices"
	"testing"

	"gprof/rawformat"
)

// Chunks that a slice left out are not a gap but are reported as such, and the range start
// of the process stays.
func TestLeftOut(t *testing.T) {
	const capacity = 64<<10 - rawformat.HeadSize - rawformat.TrailerSize
	files := map[string][]byte{"meta": testRecords(rawformat.MagicMeta, 0, metaBody("service", "x")), "dict-001": testRecords(rawformat.MagicDict, 1)}
	var blocks, bytes int64
	for i, name := range []string{"chunk-00000", "chunk-00001", "chunk-00002"} {
		c := newTestChunk(uint64(1+i*capacity), uint64(i+1), capacity).fill(capacity/2, "x").close()
		files[name] = c.file()
		if i < 2 {
			head := make([]byte, rawformat.HeadSize)
			copy(head, files[name][:rawformat.HeaderSize])
			binary.LittleEndian.PutUint32(head[rawformat.OffState:], uint32(rawformat.StateLeftOut))
			files[name] = head
			blocks, bytes = blocks+int64(c.blocks), bytes+int64(len(c.payload))
		}
	}
	p, err := OpenProcess(dirOf(files), "p")
	if err != nil {
		t.Fatal(err)
	}
	want := []Problem{{LeftOut, "2 chunks", "left out by a slice", blocks, bytes}}
	if !slices.Equal(p.Problems, want) || p.Held != 1 || len(p.Chunks) != 1 || len(p.LeftOut) != 2 {
		t.Errorf("%v, held %d, %d chunks", p.Problems, p.Held, len(p.Chunks))
	}
	delete(files, "chunk-00001")
	if p, err = OpenProcess(dirOf(files), "p"); err != nil || !hasClass(p.Problems, Gap) {
		t.Errorf("with one missing: %v, %v", p.Problems, err)
	}
}
