package chunks

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"gprof/rawformat"
)

const smallCapacity = 2*rawformat.PageSize + 100

// fixtureFiles are single chunk files of every kind of sealing.
func fixtureFiles() map[string][]byte {
	long := newTestChunk(1, 5, smallCapacity).fill(600, "a")
	long.add(logBody(strings.Repeat("x", 5000)))
	short := func() *testChunk { return newTestChunk(1, 5, flipCapacity).fill(flipCapacity-50, "a") }
	return map[string][]byte{
		"sealed":      short().close().file(),
		"open":        short().file(),
		"half sealed": short().seal(1).file(),
		"long block":  long.fill(smallCapacity-50, "b").close().file(),
		"open long":   newTestChunk(1, 5, smallCapacity).fill(100, "a").long(6000).fill(smallCapacity-50, "b").file(),
		"empty":       newTestChunk(1, 5, 100).file(),
	}
}

func (c *testChunk) long(n int) *testChunk {
	c.add(logBody(strings.Repeat("x", n)))
	return c
}

// readBytes reads one chunk file; a file that is refused has no blocks.
func readBytes(t testing.TB, data []byte) (blocks []delivered, problems []Problem) {
	t.Helper()
	p, err := OpenChunk(fstest.MapFS{"chunk-00000": {Data: data, Mode: 0o600}}, "chunk-00000")
	if err != nil {
		if !errors.Is(err, ErrNoRecording) {
			t.Errorf("opening: %v", err)
		}
		return nil, []Problem{{Class: Unreadable}}
	}
	return readAllBlocks(t, p)
}

// known is the set of blocks that may be delivered.
type known map[uint64]string

func knownOf(blocks ...[]delivered) known {
	k := known{}
	for _, list := range blocks {
		for _, b := range list {
			k[b.index] = b.body
		}
	}
	return k
}

// check fails on a block that was never written.
func (k known) check(t testing.TB, blocks []delivered) {
	t.Helper()
	last := uint64(0)
	for _, b := range blocks {
		if k[b.index] != b.body {
			t.Fatalf("invented block at index %d: %q", b.index, b.body)
		}
		if b.index <= last {
			t.Fatalf("index %d behind %d", b.index, last)
		}
		last = b.index
	}
}

func hasClass(problems []Problem, classes ...ProblemClass) bool {
	return slices.ContainsFunc(problems, func(p Problem) bool { return slices.Contains(classes, p.Class) })
}

// A file cut anywhere gives a prefix of its blocks, and says so.
func TestCutAnywhere(t *testing.T) {
	t.Parallel()
	for name, file := range fixtureFiles() {
		whole, _ := readBytes(t, file)
		got := 0
		for n := range file {
			blocks, problems := readBytes(t, file[:n])
			if len(blocks) < got || !slices.Equal(blocks, whole[:len(blocks)]) {
				t.Fatalf("%s cut at %d: %d blocks, %d with a byte less, no prefix of the whole", name, n, len(blocks), got)
			}
			if got = len(blocks); !hasClass(problems, Torn, Unreadable) {
				t.Fatalf("%s cut at %d: %v", name, n, problems)
			}
		}
		if got != len(whole) {
			t.Errorf("%s without its last byte: %d blocks, want %d", name, got, len(whole))
		}
	}
}

// pagesOf are the first and last payload page of a block.
func pagesOf(index uint64, body string) (first, last int) {
	at := int(index) - 1
	return at / rawformat.PageSize, (at + rawformat.UintSize(uint64(len(body))) + len(body) - 1) / rawformat.PageSize
}

// A flipped bit in a sealed chunk costs the blocks of its page and no others, alters none,
// and is noticed if it matters.
func TestFlipEveryBitSealed(t *testing.T) {
	t.Parallel()
	file := newTestChunk(1, 5, flipCapacity).fill(flipCapacity-50, "a").close().file()
	whole, _ := readBytes(t, file)
	written := knownOf(whole)
	flipEveryBit(t, file, func(off int, blocks []delivered, problems []Problem) {
		written.check(t, blocks)
		if len(blocks) == len(whole) {
			return
		}
		if !hasClass(problems, Damaged, Unreadable) {
			t.Fatalf("byte %d flipped: blocks are missing, problems %v", off, problems)
		}
		if page := pageOfByte(off); page >= 0 {
			onlyPageLost(t, page, whole, knownOf(blocks))
		}
	})
}

// pageOfByte is the payload page that a byte of the file affects; -1 for the header, which
// may affect all.
func pageOfByte(off int) int {
	switch {
	case off >= rawformat.HeadSize:
		return (off - rawformat.HeadSize) / rawformat.PageSize
	case off >= rawformat.HeaderSize:
		return (off - rawformat.HeaderSize) / 8
	}
	return -1
}

func onlyPageLost(t *testing.T, page int, whole []delivered, left known) {
	t.Helper()
	for _, b := range whole {
		if first, last := pagesOf(b.index, b.body); left[b.index] == "" && (page < first || page > last) {
			t.Fatalf("damage in page %d: the block at %d, pages %d to %d, is lost", page, b.index, first, last)
		}
	}
}

// If any bit of an open chunk is flipped, the blocks of sealed pages are never altered;
// those of other pages may be, without harm to the reader.
func TestFlipEveryBitOpen(t *testing.T) {
	t.Parallel()
	file := newTestChunk(1, 5, flipCapacity).fill(flipCapacity-50, "a").seal(1).file()
	whole, _ := readBytes(t, file)
	written := knownOf(whole)
	flipEveryBit(t, file, func(off int, blocks []delivered, _ []Problem) {
		for _, b := range blocks {
			if _, last := pagesOf(b.index, b.body); last == 0 && written[b.index] != b.body && off >= rawformat.HeadSize {
				t.Fatalf("byte %d flipped: invented block at %d", off, b.index)
			}
		}
	})
}

// flipCapacity makes two pages: one to be damaged and one to survive.
const flipCapacity = rawformat.PageSize + 400

// flipEveryBit flips each bit in turn; in the unused part of the page table,
// one of each byte.
func flipEveryBit(t *testing.T, file []byte, check func(off int, blocks []delivered, problems []Problem)) {
	const unused = rawformat.HeaderSize + 8*2
	for off := range file {
		for bit := range 8 {
			if off >= unused && off < rawformat.HeadSize && bit != off%8 {
				continue
			}
			file[off] ^= 1 << bit
			blocks, problems := readBytes(t, file)
			file[off] ^= 1 << bit
			check(off, blocks, problems)
		}
	}
}

// A copy stalled while the ring turned: the bytes up to some offset are of one use of the
// file, the others of later ones. No block is invented, and every missing page is named.
func TestCopyOfTurningRing(t *testing.T) {
	const capacity = 4 * rawformat.PageSize
	uses := func(epoch uint64, sealed int) ([]byte, []delivered) {
		c := newTestChunk(1+(epoch-5)*capacity, epoch, capacity).fill(capacity-300, "same name").seal(sealed)
		blocks, _ := readBytes(t, c.file())
		return c.file(), blocks
	}
	for sealed := range 4 {
		first, firstBlocks := uses(5, sealed)
		second, _ := uses(6, sealed)
		third, _ := uses(7, 4)
		for stall := 0; stall < len(first); stall += 256 - 1&(stall/256) {
			mixed := slices.Concat(first[:stall], second[stall:])
			again := min(len(first), stall+3000)
			for _, copied := range [][]byte{mixed, slices.Concat(mixed[:again], third[again:])} {
				checkMixed(t, copied, knownOf(firstBlocks), sealed, stall)
			}
		}
	}
}

func checkMixed(t *testing.T, copied []byte, first known, sealed, stall int) {
	t.Helper()
	if stall < rawformat.HeaderSize {
		return // the header is of two uses or of the second: covered by flips
	}
	blocks, problems := readBytes(t, copied)
	first.check(t, blocks)
	named := 0
	for _, p := range problems {
		if p.Class == Foreign && strings.Contains(p.Where, " page ") {
			named++
		}
	}
	intact := min(sealed, max(0, (stall-rawformat.HeadSize)/rawformat.PageSize))
	if named != 4-intact {
		t.Errorf("%d pages sealed, stall at %d: %d foreign pages, want %d: %v", sealed, stall, named, 4-intact, problems)
	}
}

// Blocks between lost pages are found again, sealed or not.
func TestResume(t *testing.T) {
	const capacity = 5 * rawformat.PageSize
	for _, sealed := range []int{0, 2, 5} {
		c := newTestChunk(1, 5, capacity).fill(capacity-50, "a").seal(sealed)
		file := c.file()
		whole, _ := readBytes(t, file)
		sync := rawformat.HeadSize + rawformat.PageSize + int(c.firsts[1])
		file[sync+3] ^= 1 // the index of page 1's sync block
		blocks, problems := readBytes(t, file)
		knownOf(whole).check(t, blocks)
		var fresh []int
		for _, b := range blocks {
			if first, _ := pagesOf(b.index, b.body); b.fresh {
				fresh = append(fresh, first)
				if b.body[0] != byte(rawformat.KindSync) {
					t.Errorf("fresh block of kind %d", b.body[0])
				}
			}
		}
		if !slices.Equal(fresh, []int{0, 2}) {
			t.Errorf("%d pages sealed: fresh in pages %v; %v", sealed, fresh, problems)
		}
		lost := int64(len(whole) - len(blocks))
		if len(problems) == 0 || problems[0].Where != "chunk-00000 page 1" || problems[0].Blocks != lost {
			t.Errorf("%d pages sealed: %v, want page 1 and %d blocks", sealed, problems, lost)
		}
	}
}

// A block over several pages needs all of them.
func TestLongBlockNeedsAllPages(t *testing.T) {
	const capacity = 6 * rawformat.PageSize
	c := newTestChunk(1, 5, capacity).fill(200, "a").long(3*rawformat.PageSize).fill(capacity-50, "b").close()
	file := c.file()
	whole, problems := readBytes(t, file)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	file[rawformat.HeadSize+2*rawformat.PageSize+17] ^= 4 // in its middle
	blocks, problems := readBytes(t, file)
	knownOf(whole).check(t, blocks)
	if len(blocks) != len(whole)-1 || len(problems) != 1 || problems[0].Blocks != 1 || problems[0].Where != "chunk-00000 page 2" {
		t.Errorf("%d blocks of %d, %v", len(blocks), len(whole), problems)
	}
}

// Unsealed bytes are read and reported as unproven, once for each chunk.
func TestUnproven(t *testing.T) {
	c := newTestChunk(1, 5, smallCapacity).fill(smallCapacity-50, "a").seal(1)
	blocks, problems := readBytes(t, c.file())
	unproven := int64(0)
	for _, b := range blocks {
		if _, last := pagesOf(b.index, b.body); last > 0 {
			unproven++
		}
	}
	want := []Problem{{Unproven, "chunk-00000", "not sealed", unproven, int64(len(c.payload) - rawformat.PageSize)}}
	if !slices.Equal(problems, want) || len(blocks) != int(c.blocks) {
		t.Errorf("%d blocks of %d, %v, want %v", len(blocks), c.blocks, problems, want)
	}
}

// A page that was sealed after the commit offset was read is unproven, not
// damaged.
func TestSealedAfterCommitWasRead(t *testing.T) {
	c := newTestChunk(1, 5, smallCapacity).fill(rawformat.PageSize+2000, "a")
	before, blocks := len(c.payload), c.blocks
	file := c.fill(smallCapacity-50, "b").seal(2).file()
	h := c.h
	h.Commit = rawformat.MakeCommit(uint32(before), blocks)
	copy(file, make([]byte, rawformat.HeaderSize))
	rawformat.PutHeader(file, &h)
	got, problems := readBytes(t, file)
	if len(got) != int(blocks) || len(problems) != 1 || problems[0].Class != Unproven || problems[0].Bytes != int64(before-rawformat.PageSize) {
		t.Errorf("%d blocks of %d, %v", len(got), blocks, problems)
	}
}

// Nothing above the commit word is read, and a contradictory one is noticed.
func TestCommit(t *testing.T) {
	whole := newTestChunk(1, 5, smallCapacity).fill(smallCapacity-50, "a")
	all, _ := readBytes(t, whole.file())
	set := func(c rawformat.Commit, close, sealed bool) []byte {
		b := whole.seal(0).file()
		if sealed {
			b = whole.seal(rawformat.Pages(uint32(len(whole.payload)))).file()
		}
		h := whole.h
		h.Commit = c
		if close {
			h.Close = rawformat.Anchor{Monotonic: 1}
		}
		copy(b, make([]byte, rawformat.HeaderSize))
		rawformat.PutHeader(b, &h)
		return b
	}
	end := uint32(len(whole.payload))
	half := uint32(all[len(all)/2].index) - 1
	for _, test := range []struct {
		name   string
		file   []byte
		blocks int
		class  ProblemClass
	}{
		{"half", set(rawformat.MakeCommit(half, uint32(len(all)/2)), false, false), len(all) / 2, Unproven},
		{"half, whole counter", set(rawformat.MakeCommit(half, uint32(len(all))), false, false), len(all) / 2, Damaged},
		{"nothing", set(0, false, false), 0, numClasses},
		{"over the capacity, unsealed", set(rawformat.MakeCommit(smallCapacity+1, 9), false, false), 0, Damaged},
		{"mid-block", set(rawformat.MakeCommit(end-1, uint32(len(all))), true, false), len(all) - 1, Damaged},
	} {
		blocks, problems := readBytes(t, test.file)
		if len(blocks) != test.blocks || !slices.Equal(blocks, all[:test.blocks]) || test.class < numClasses && !hasClass(problems, test.class) || test.class == numClasses && len(problems) > 0 {
			t.Errorf("%s: %d blocks, want %d; %v", test.name, len(blocks), test.blocks, problems)
		}
	}
	blocks, problems := readBytes(t, set(rawformat.MakeCommit(smallCapacity+1, 9), false, true))
	inFull := slices.IndexFunc(all, func(b delivered) bool { // the last page's length is unknown
		_, last := pagesOf(b.index, b.body)
		return last == len(whole.payload)/rawformat.PageSize
	})
	if !slices.Equal(blocks, all[:inFull]) || !hasClass(problems, Damaged) {
		t.Errorf("sealed, commit over the capacity: %d blocks, want %d; %v", len(blocks), inFull, problems)
	}
}

// Impossible lengths are refused before anything is allocated.
func TestHostileLengths(t *testing.T) {
	huge := newTestChunk(1, 5, smallCapacity).file()
	h := newTestChunk(1, 5, rawformat.MaxCapacity).h
	h.Commit = rawformat.MakeCommit(rawformat.MaxCapacity, 1)
	rawformat.PutHeader(huge, &h)
	blocks, problems := readBytes(t, huge)
	if len(blocks) != 0 || !hasClass(problems, Damaged) {
		t.Errorf("capacity of 1 GiB: %v", problems)
	}
	for _, length := range []uint64{0, rawformat.MaxBlock, rawformat.MaxBlock + 1, 1<<64 - 1} {
		c := newTestChunk(1, 5, smallCapacity).fill(100, "a")
		before := int(c.blocks)
		c.payload = append(rawformat.AppendUint(c.payload, length), 4, 5, 6)
		blocks, problems := readBytes(t, c.close().file())
		if len(blocks) != before || !hasClass(problems, Damaged) {
			t.Errorf("length %d: %d blocks, want %d; %v", length, len(blocks), before, problems)
		}
	}
}

// A file system that cannot be read in parts, and files that cannot be read.
func TestFileSystems(t *testing.T) {
	file := fixtureFiles()["sealed"]
	want, _ := readBytes(t, file)
	p := mustOpen(t, serialFS{dirOf(map[string][]byte{"chunk-00000": file, "meta": testRecords(rawformat.MagicMeta, 0, metaBody("k", "v"))})})
	if got, problems := readAllBlocks(t, p); !slices.Equal(got, want) || len(problems) > 0 || len(p.Meta) != 1 {
		t.Errorf("without ReadAt: %d blocks, want %d; %v", len(got), len(want), problems)
	}
	broken := dirOf(map[string][]byte{"chunk-00000": file})
	broken["p/chunk-00001"] = &fstest.MapFile{Mode: fs.ModeNamedPipe}
	broken["p/dict-001"] = &fstest.MapFile{Mode: fs.ModeDir}
	p = mustOpen(t, broken)
	got, problems := readAllBlocks(t, p)
	if !slices.Equal(got, want) || len(problems) != 2 || problems[0].Class != Unreadable || problems[0].Where != "chunk-00001" || problems[1].Where != "dict-001" {
		t.Errorf("with a pipe and a folder: %v", problems)
	}
	delete(broken, "p/chunk-00000")
	if _, err := OpenProcess(broken, "p"); !errors.Is(err, ErrNoRecording) {
		t.Errorf("nothing to be read: %v", err)
	}
	if _, err := OpenProcess(broken, "q"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing directory: %v", err)
	}
}

// serialFS hides that its files can be read in parts.
type serialFS struct{ fs.FS }

func (s serialFS) Open(name string) (fs.File, error) {
	f, err := s.FS.Open(name)
	if _, ok := f.(fs.ReadDirFile); ok || err != nil {
		return f, err
	}
	return struct{ fs.File }{f}, nil
}

// A chunk that is reused between listing and reading is left out.
func TestReusedSinceListed(t *testing.T) {
	a := newTestChunk(1, 5, smallCapacity).fill(smallCapacity-50, "a").close()
	b := newTestChunk(1+smallCapacity, 6, smallCapacity).fill(smallCapacity-50, "b").close()
	fsys := dirOf(map[string][]byte{"chunk-00000": a.file()})
	p := mustOpen(t, fsys)
	fsys["p/chunk-00000"].Data = b.file()
	blocks, problems := readAllBlocks(t, p)
	want := []Problem{{Stale, "chunk-00000", "was reused since it was listed", int64(a.blocks), int64(len(a.payload))}}
	if len(blocks) > 0 || !slices.Equal(problems, want) {
		t.Errorf("%d blocks, %v, want %v", len(blocks), problems, want)
	}
	fsys["p/chunk-00000"].Data = a.file()
	if blocks, problems = readAllBlocks(t, p); len(blocks) != int(a.blocks) || len(problems) > 0 {
		t.Errorf("read again: %d blocks of %d, %v", len(blocks), a.blocks, problems)
	}
}

// A chunk that a live ring gave back between listing and reading is left out as well. If
// the whole directory was removed, its content is lost.
func TestRemovedSinceListed(t *testing.T) {
	a := newTestChunk(1, 5, smallCapacity).fill(smallCapacity-50, "a").close()
	fsys := dirOf(map[string][]byte{"chunk-00000": a.file(), "lock": nil})
	p := mustOpen(t, fsys)
	delete(fsys, "p/chunk-00000")
	blocks, problems := readAllBlocks(t, p)
	want := []Problem{{Stale, "chunk-00000", "was given back since it was listed", int64(a.blocks), int64(len(a.payload))}}
	if len(blocks) > 0 || !slices.Equal(problems, want) {
		t.Errorf("%d blocks, %v, want %v", len(blocks), problems, want)
	}
	clear(fsys)
	if blocks, problems := readAllBlocks(t, p); len(blocks) > 0 || len(problems) != 1 || problems[0].Class != Unreadable {
		t.Errorf("directory that went away: %v", problems)
	}
}

// The names of the classes are those of the ledger.
func TestProblemString(t *testing.T) {
	p := Problem{Torn, "chunk-00003 page 7", "cut", 2, 30}
	if got := fmt.Sprint(p); got != "chunk-00003 page 7: torn: cut, 2 blocks, 30 bytes" {
		t.Error(got)
	}
	for c, name := range classNames {
		if name == "" || ProblemClass(c).String() != name {
			t.Errorf("class %d is %q", c, name)
		}
	}
	if numClasses.String() != "class 10" {
		t.Error(numClasses.String())
	}
}
