package chunks

import (
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"slices"
	"testing"
	"testing/fstest"

	"gprof/rawformat"
)

// setFirst changes where a page's entry says that the first block begins.
func setFirst(file []byte, page int, first uint32) {
	at := file[rawformat.HeaderSize+8*page:]
	e := rawformat.PageEntry(binary.LittleEndian.Uint64(at))
	binary.LittleEndian.PutUint64(at, uint64(rawformat.MakePageEntry(e.CRC(), first)))
}

// An entry that names the wrong first block is damaged; the blocks, which match their
// checksum, are read.
func TestWrongFirstBlock(t *testing.T) {
	for page, first := range []uint32{9, 100, rawformat.PageSize} {
		file := newTestChunk(1, 5, 6*rawformat.PageSize).fill(200, "a").long(2*rawformat.PageSize).fill(5*rawformat.PageSize, "b").close().file()
		whole, _ := readBytes(t, file)
		if page == 2 { // the long block ends in it
			first--
		}
		setFirst(file, page, first)
		blocks, problems := readBytes(t, file)
		want := []Problem{{Damaged, (&Image{Name: "chunk-00000"}).wherePage(page), "first block of the page entry", 0, 0}}
		if !slices.Equal(blocks, whole) || !slices.Equal(problems, want) {
			t.Errorf("page %d: %d blocks of %d, %v", page, len(blocks), len(whole), problems)
		}
	}
}

// After unproven bytes that lead astray, the next seal leads back.
func TestSealLeadsBack(t *testing.T) {
	c := newTestChunk(1, 5, 3*rawformat.PageSize).fill(3*rawformat.PageSize-50, "a").seal(3)
	file := c.file()
	whole, _ := readBytes(t, file)
	last := 0 // the last block that begins in page 0
	for i, b := range whole {
		if first, _ := pagesOf(b.index, b.body); first == 0 {
			last = i
		}
	}
	clear(file[rawformat.HeaderSize:][:8]) // page 0 is not sealed any more
	at := rawformat.HeadSize + int(whole[last].index) - 1
	copy(file[at:], rawformat.AppendUint(nil, uint64(len(whole[last].body)+300)))
	blocks, problems := readBytes(t, file)
	rest := slices.IndexFunc(blocks, func(b delivered) bool { return b.index == whole[last+1].index })
	if rest < 0 || !blocks[rest].fresh || len(blocks)-rest != len(whole)-last-1 || !hasClass(problems, Damaged) {
		t.Errorf("%d blocks of %d, the seal's first is number %d; %v", len(blocks), len(whole), rest, problems)
	}
}

// A sync block in mid-page that does not belong there costs the rest of the
// page.
func TestWrongSyncInMidPage(t *testing.T) {
	for name, body := range map[string][]byte{"index": syncBody(77, 5), "epoch": syncBody(0, 6), "fields": {byte(rawformat.KindSync), 1}} {
		c := newTestChunk(1, 5, 3*rawformat.PageSize).fill(500, "a")
		before := int(c.blocks)
		if name == "epoch" {
			body = syncBody(c.h.RangeStart+uint64(len(c.payload)), 6)
		}
		c.add(body)
		c.fill(rawformat.PageSize+500, "b").close()
		blocks, problems := readBytes(t, c.file())
		if len(blocks) <= before || !blocks[before].fresh || len(problems) != 1 || problems[0].Class != Foreign ||
			problems[0].Where != "chunk-00000 page 0" || problems[0].Blocks != int64(c.blocks)-int64(len(blocks)) {
			t.Errorf("%s: %d blocks, %v", name, len(blocks), problems)
		}
	}
}

// Bytes after the trailer are reported and cost nothing.
func TestBytesBehindTrailer(t *testing.T) {
	c := newTestChunk(1, 5, smallCapacity).fill(500, "a").close()
	blocks, problems := readBytes(t, append(c.file(), "more"...))
	if want := []Problem{{Foreign, "chunk-00000", "bytes behind the trailer", 0, 4}}; len(blocks) != int(c.blocks) || !slices.Equal(problems, want) {
		t.Errorf("%d blocks of %d, %v, want %v", len(blocks), c.blocks, problems, want)
	}
}

// badDisk fails to read from an offset on.
type badDisk struct {
	fs.FS
	from int64
}

var errDisk = errors.New("the disk fails")

type badFile struct {
	fs.File
	from int64
}

func (d *badDisk) Open(name string) (fs.File, error) {
	f, err := d.FS.Open(name)
	if _, ok := f.(io.ReaderAt); !ok || err != nil {
		return f, err
	}
	return badFile{f, d.from}, nil
}

func (f badFile) ReadAt(b []byte, off int64) (int, error) {
	whole := len(b)
	b = b[:max(0, min(int64(whole), f.from-off))]
	n, err := f.File.(io.ReaderAt).ReadAt(b, off)
	if err == nil && len(b) < whole {
		err = errDisk
	}
	return n, err
}

// A disk that fails costs the bytes that it holds; the error is returned.
func TestReadErrors(t *testing.T) {
	c := newTestChunk(1, 5, 3*rawformat.PageSize).fill(3*rawformat.PageSize-50, "a").close()
	whole, _ := readBytes(t, c.file())
	disk := &badDisk{FS: fstest.MapFS{"p/chunk-00000": {Data: c.file()}}, from: 1 << 40}
	p := mustOpen(t, disk)
	for _, from := range []int64{0, rawformat.HeadSize, rawformat.HeadSize + rawformat.PageSize + 100, rawformat.HeadSize + 3*rawformat.PageSize} {
		disk.from = from
		var problems []Problem
		n := 0
		r := p.Blocks(func(p Problem) { problems = append(problems, p) })
		for ; r.Next(); n++ {
			if b := r.Block(); b.Index != whole[n].index {
				t.Fatalf("block %d at %d, want %d", n, b.Index, whole[n].index)
			}
		}
		want := 0
		for _, b := range whole {
			if b.index-1+uint64(rawformat.UintSize(uint64(len(b.body)))+len(b.body)) <= uint64(max(0, from-rawformat.HeadSize)) {
				want++
			}
		}
		if !errors.Is(r.Err(), errDisk) || n != want || len(problems) == 0 || problems[0].Class != Unreadable || hasClass(problems, Torn) {
			t.Errorf("fails from %d: %d blocks, want %d; %v, %v", from, n, want, problems, r.Err())
		}
	}
	disk.from = 10
	if _, err := OpenProcess(disk, "p"); !errors.Is(err, ErrNoRecording) || !errors.Is(err, errDisk) {
		t.Errorf("header cannot be read: %v", err)
	}
}
