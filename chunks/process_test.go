package chunks

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"gprof/rawformat"
)

// four returns the files of four consecutive chunks, closed, with epochs 5 to 8.
func four() (files map[string][]byte, chunks []*testChunk) {
	files = map[string][]byte{}
	for i := range 4 {
		c := newTestChunk(1+uint64(i)*smallCapacity, 5+uint64(i), smallCapacity).fill(3000, string(rune('a'+i))).close()
		files[fmt.Sprintf("chunk-%05d", i)] = c.file()
		chunks = append(chunks, c)
	}
	return files, chunks
}

func exitBody(rangeStart, rangeEnd, discarded uint64) []byte {
	b := []byte{byte(rawformat.KindExit)}
	b = rawformat.AppendUint(b, 11)
	b = rawformat.AppendSint(b, -12)
	b = rawformat.AppendUint(b, uint64(rawformat.ExitSignal))
	b = rawformat.AppendSint(b, 9)
	b = rawformat.AppendFixed(b, 13)
	b = rawformat.AppendUint(b, 14)
	b = rawformat.AppendUint(b, rangeStart)
	b = rawformat.AppendUint(b, rangeEnd)
	b = rawformat.AppendUint(b, discarded)
	return rawformat.AppendText(b, "why")
}

// Every file of a directory ends up in its place.
func TestOpenProcess(t *testing.T) {
	files, _ := four()
	files["meta"] = testRecords(rawformat.MagicMeta, 0, metaBody("service", "shop"), metaBody("arg", "a"), metaBody("arg", "b"))
	files["exit"] = testRecords(rawformat.MagicExit, 0, exitBody(1, 1+4*smallCapacity, 15))
	files["dict-002"] = testRecords(rawformat.MagicDict, 2, stringBody(1, "two"))
	files["dict-001"] = testRecords(rawformat.MagicDict, 1, stringBody(1, "one"), stringBody(2, "uno"))
	files["lock"], files["meta.new"], files["README"] = nil, []byte("gprM"), []byte("x")
	p := mustOpen(t, dirOf(files))
	if len(p.Problems) > 0 {
		t.Errorf("problems: %v", p.Problems)
	}
	if want := []Meta{{"service", "shop"}, {"arg", "a"}, {"arg", "b"}}; !slices.Equal(p.Meta, want) {
		t.Errorf("meta %v, want %v", p.Meta, want)
	}
	want := Exit{Monotonic: 11, Realtime: -12, Reason: rawformat.ExitSignal, Code: 9, Parent: 13, ParentIndex: 14, RangeStart: 1, RangeEnd: 1 + 4*smallCapacity, Discarded: 15, Text: "why"}
	if p.Exit == nil || *p.Exit != want {
		t.Errorf("exit %+v, want %+v", p.Exit, want)
	}
	if len(p.Dicts) != 2 || p.Dicts[0].Generation != 1 || p.Dicts[1].Generation != 2 || len(p.Dicts[0].All(nil)) != 2 {
		t.Fatalf("dictionaries %+v", p.Dicts)
	}
	r := p.Dicts[0].All(nil)[1]
	if c := r.Fields(); r.Kind != rawformat.KindDefString || c.Uint("id") != 2 || string(c.Text("text")) != "uno" {
		t.Errorf("record %+v", r)
	}
	if !bytes.HasPrefix(files["dict-001"][r.Off:], r.Body) {
		t.Errorf("offset %d is not that of the fields", r.Off)
	}
}

// A chunk that is missing at or above the range start is a gap; discarded ones are not.
func TestGaps(t *testing.T) {
	at := func(chunk int) uint64 { return 1 + uint64(chunk)*smallCapacity }
	gap := func(from, to int) Problem {
		return Problem{Gap, fmt.Sprintf("index %d to %d", at(from), at(to)-1), "no chunk holds it", -1, int64(to-from) * smallCapacity}
	}
	for _, test := range []struct {
		name    string
		missing []int
		held    uint64
		dropped uint32 // as the last header says
		exit    []byte
		want    []Problem
	}{
		{"none", nil, 1, 0, exitBody(1, at(4), 0), nil},
		{"first, held", []int{0}, 1, 0, nil, []Problem{gap(0, 1)}},
		{"first, discarded", []int{0}, at(1), 1, nil, nil},
		{"first, discarded as exit says", []int{0, 1}, 1, 0, exitBody(at(2), at(4), 2), nil},
		{"middle", []int{1, 2}, 1, 0, nil, []Problem{gap(1, 3)}},
		{"last, nobody knows", []int{3}, 1, 0, nil, nil},
		{"last, exit knows", []int{3}, 1, 0, exitBody(1, at(4), 0), []Problem{gap(3, 4)}},
		{"middle, discarded as exit says", []int{1}, 1, 0, exitBody(1, at(4), 1), nil},
		{"two holes", []int{0, 2}, 1, 0, nil, []Problem{gap(0, 1), gap(2, 3)}},
		{"middle, discarded before an older one", []int{1}, 1, 1, nil, nil},
		{"two, one of them discarded", []int{1, 2}, 1, 1, nil, []Problem{gap(2, 3)}},
		{"middle, the first was discarded", []int{0, 2}, at(1), 1, nil, []Problem{gap(2, 3)}},
	} {
		files, chunks := four()
		chunks[3].h.Held, chunks[2].h.Held = test.held, test.held
		chunks[3].h.Discarded = test.dropped
		files["chunk-00003"], files["chunk-00002"] = chunks[3].file(), chunks[2].file()
		want := 0
		for i := range chunks {
			if name := fmt.Sprintf("chunk-%05d", i); slices.Contains(test.missing, i) {
				delete(files, name)
			} else {
				want += int(chunks[i].blocks)
			}
		}
		if test.exit != nil {
			files["exit"] = testRecords(rawformat.MagicExit, 0, test.exit)
		}
		blocks, problems := readAllBlocks(t, mustOpen(t, dirOf(files)))
		if !slices.Equal(problems, test.want) || len(blocks) != want {
			t.Errorf("%s: %d blocks of %d, %v, want %v", test.name, len(blocks), want, problems, test.want)
		}
	}
}

// Of two copies the one is read of which more can be read.
func TestDuplicates(t *testing.T) {
	whole := newTestChunk(1, 5, smallCapacity).fill(smallCapacity-50, "a")
	open, closed := whole.file(), whole.close().file()
	early := newTestChunk(1, 5, smallCapacity).fill(3000, "a").file()
	damaged := bytes.Clone(closed)
	damaged[rawformat.HeadSize+5000] ^= 1
	all, _ := readBytes(t, closed)
	for _, test := range []struct {
		name  string
		files [][]byte
		loser string
	}{
		{"same", [][]byte{closed, closed}, "chunk-00001"},
		{"open and closed", [][]byte{open, closed}, "chunk-00000"},
		{"closed and open", [][]byte{closed, open}, "chunk-00001"},
		{"early and late", [][]byte{early, open}, "chunk-00000"},
		{"late and early", [][]byte{open, early}, "chunk-00001"},
		{"whole and cut", [][]byte{closed, closed[:9000]}, "chunk-00001"},
		{"cut and whole", [][]byte{closed[:9000], closed}, "chunk-00000"},
		{"damaged and whole", [][]byte{damaged, closed}, "chunk-00000"},
	} {
		files := map[string][]byte{}
		for i, data := range test.files {
			files[fmt.Sprintf("chunk-%05d", i)] = data
		}
		blocks, problems := readAllBlocks(t, mustOpen(t, dirOf(files)))
		if !slices.Equal(blocks, all) || len(problems) == 0 || problems[0].Class != Duplicate || problems[0].Where != test.loser {
			t.Errorf("%s: %d blocks of %d, %v", test.name, len(blocks), len(all), problems)
		}
	}
}

// Of two chunks that claim the same indexes the later one is read.
func TestOverlap(t *testing.T) {
	a := newTestChunk(1, 9, smallCapacity).fill(3000, "a").close()
	for _, start := range []uint64{1, 2, smallCapacity} {
		b := newTestChunk(start, 8, smallCapacity).fill(3000, "b").close()
		for _, names := range [][2]string{{"chunk-00000", "chunk-00001"}, {"chunk-00001", "chunk-00000"}} {
			blocks, problems := readAllBlocks(t, mustOpen(t, dirOf(map[string][]byte{names[0]: a.file(), names[1]: b.file()})))
			want := Problem{Damaged, names[1], "overlaps " + names[0] + ", which is later", int64(b.blocks), int64(len(b.payload))}
			if len(blocks) != int(a.blocks) || len(problems) != 1 || problems[0] != want {
				t.Errorf("overlap from %d: %d blocks of %d, %v, want %v", start, len(blocks), a.blocks, problems, want)
			}
		}
	}
}

// Files of another process, of no process, of a later version.
func TestStrangeFiles(t *testing.T) {
	files, chunks := four()
	other := newTestChunk(1, 5, smallCapacity).fill(3000, "o")
	other.h.Instance = 99
	files["chunk-00004"] = other.close().file()
	files["chunk-00005"] = []byte(strings.Repeat("no chunk ", 100))
	files["chunk-00006"] = files["chunk-00000"][:50]
	files["chunk-00007"] = bytes.Clone(files["chunk-00000"])
	files["chunk-00007"][4] = 9 // version
	files["chunk-00008"] = bytes.Clone(files["chunk-00000"])
	files["chunk-00008"][34]++ // range start
	files["dict-009"] = files["chunk-00000"]
	blocks, problems := readAllBlocks(t, mustOpen(t, dirOf(files)))
	want := 0
	for _, c := range chunks {
		want += int(c.blocks)
	}
	if len(blocks) != want {
		t.Errorf("%d blocks, want %d", len(blocks), want)
	}
	var got []string
	for _, p := range problems {
		got = append(got, p.Where+" "+p.Class.String())
	}
	wants := []string{"chunk-00005 foreign", "chunk-00006 torn", "chunk-00007 unreadable", "chunk-00008 damaged", "dict-009 foreign", "chunk-00004 foreign"}
	if !slices.Equal(got, wants) {
		t.Errorf("problems %v, want %v", got, wants)
	}
}

// The meta file says to which instance a directory belongs; without it, most files decide.
func TestInstance(t *testing.T) {
	mine, other := newTestChunk(1, 5, smallCapacity), newTestChunk(1, 5, smallCapacity)
	other.h.Instance = 99
	files := map[string][]byte{"chunk-00000": mine.file(), "chunk-00001": other.file(), "chunk-00002": other.file()}
	if p := mustOpen(t, dirOf(files)); p.Instance != 99 {
		t.Errorf("instance %x, want that of most files", p.Instance)
	}
	files["meta"] = testRecords(rawformat.MagicMeta, 0)
	if p := mustOpen(t, dirOf(files)); p.Instance != testInstance || len(p.Chunks) != 1 || p.Meta == nil {
		t.Errorf("instance %x, want that of meta", p.Instance)
	}
}

// A chunk file that is not in use is ignored, but reported if it was in use.
func TestUnused(t *testing.T) {
	c := newTestChunk(1, 5, smallCapacity).fill(3000, "a").close()
	fresh := make([]byte, len(c.file()))
	rawformat.PutHeader(fresh, &rawformat.Header{Capacity: smallCapacity})
	p := mustOpen(t, dirOf(map[string][]byte{"chunk-00000": fresh}))
	if len(p.Chunks)+len(p.Problems) > 0 {
		t.Errorf("fresh file: %+v", p)
	}
	for _, size := range []int{0, 100, len(fresh)} { // it was being made
		if _, err := OpenProcess(dirOf(map[string][]byte{"chunk-00000": make([]byte, size)}), "p"); !errors.Is(err, ErrNoRecording) {
			t.Errorf("%d zeros: %v", size, err)
		}
		p = mustOpen(t, dirOf(map[string][]byte{"chunk-00000": make([]byte, size), "chunk-00001": c.file()}))
		if len(p.Chunks) != 1 || len(withoutMissing(p.Problems)) > 0 {
			t.Errorf("%d zeros: %+v", size, p)
		}
	}
	used := c.file()
	clear(used[rawformat.OffEpoch:][:8])
	p = mustOpen(t, dirOf(map[string][]byte{"chunk-00000": used}))
	if len(p.Chunks) > 0 || len(p.Problems) != 1 || p.Problems[0].Class != Stale {
		t.Errorf("file that was being reused: %+v", p)
	}
}

func TestNoRecording(t *testing.T) {
	for _, files := range []map[string][]byte{
		{}, {"README": []byte("x")}, {"chunk-00000": []byte(strings.Repeat("x", 500))}, {"chunk-00000": nil}, {"dict-001": []byte("gp")},
	} {
		m := dirOf(files)
		m["p/lock"] = &fstest.MapFile{}
		if p, err := OpenProcess(m, "p"); !errors.Is(err, ErrNoRecording) || p != nil {
			t.Errorf("%v: %v", files, err)
		}
	}
	_, err := OpenChunk(fstest.MapFS{"x": {Data: []byte(strings.Repeat("x", 500))}}, "x")
	if !errors.Is(err, ErrNoRecording) || !errors.Is(err, rawformat.ErrMagic) {
		t.Errorf("one foreign file: %v", err)
	}
}

// Of a process whose files are all of a later version nothing is known: no instance, no time.
// Where some can be read, the others are problems.
func TestNewerProcess(t *testing.T) {
	newer := newTestChunk(1, 5, smallCapacity).file()
	binary.LittleEndian.PutUint16(newer[4:], rawformat.Version+1)
	files := map[string][]byte{"chunk-00000": newer}
	if p, err := OpenProcess(dirOf(files), "p"); !errors.Is(err, ErrNewer) || p != nil {
		t.Errorf("%+v, %v", p, err)
	}
	files["chunk-00001"] = newTestChunk(1, 5, smallCapacity).file()
	if p := mustOpen(t, dirOf(files)); p.Instance != testInstance || len(withoutMissing(p.Problems)) != 1 {
		t.Errorf("%+v", p)
	}
}

// One chunk file alone has no gaps around it.
func TestOpenChunk(t *testing.T) {
	files, chunks := four()
	p, err := OpenChunk(dirOf(files), "p/chunk-00002")
	if err != nil || p.Dir != "p" || p.Instance != testInstance || len(p.Chunks) != 1 || len(withoutMissing(p.Problems)) > 0 {
		t.Fatalf("%+v, %v", p, err)
	}
	if blocks, problems := readAllBlocks(t, p); len(blocks) != int(chunks[2].blocks) || len(problems) > 0 {
		t.Errorf("%d blocks of %d, %v", len(blocks), chunks[2].blocks, problems)
	}
	im := p.Chunks[0]
	if im.Name != "p/chunk-00002" || im.End() != 1+3*smallCapacity || !im.Closed || im.Size != int64(len(files["chunk-00002"])) {
		t.Errorf("image %+v", im)
	}
}

// If the dictionary or meta file of chunks is gone, both are named.
func TestMissingFiles(t *testing.T) {
	files, _ := four()
	delete(files, "meta")
	delete(files, "dict-001")
	p, err := OpenProcess(dirOf(files), "p")
	if err != nil {
		t.Fatal(err)
	}
	var where []string
	for _, pr := range p.Problems {
		if pr.Class == Missing {
			where = append(where, pr.Where)
		}
	}
	if !slices.Equal(where, []string{"meta", "dict-001"}) {
		t.Errorf("problems %v", p.Problems)
	}
}
