package chunks

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"gprof/rawformat"
)

const (
	testInstance = 0x1122334455667788
	testPid      = 4711
)

// testChunk builds a chunk file block by block, with sync blocks where they belong.
type testChunk struct {
	h       rawformat.Header
	payload []byte
	firsts  map[int]uint32 // by page: offset in the page
	blocks  uint32
	sealed  int // pages
	noSync  bool
}

func newTestChunk(rangeStart, epoch uint64, capacity int) *testChunk {
	return &testChunk{firsts: map[int]uint32{}, h: rawformat.Header{
		Instance: testInstance, Epoch: epoch, RangeStart: rangeStart, Capacity: uint32(capacity), Pid: testPid, Writer: 3,
		Generation: 1, Open: rawformat.Anchor{TSC: 1, Monotonic: 2, Realtime: 3}, State: rawformat.StateInUse, Held: 1,
	}}
}

func syncBody(index, epoch uint64) []byte {
	b := []byte{byte(rawformat.KindSync)}
	for _, v := range []uint64{index, epoch, 1000, 7, 0} {
		b = rawformat.AppendUint(b, v)
	}
	return b
}

func logBody(text string) []byte {
	return rawformat.AppendText([]byte{byte(rawformat.KindLog), 2, 0}, text)
}

// add appends blocks, with a sync block before the first one of each page. It reports
// false when the next one does not fit.
func (c *testChunk) add(bodies ...[]byte) bool {
	for _, body := range bodies {
		if _, ok := c.firsts[len(c.payload)/rawformat.PageSize]; !ok && !c.noSync {
			if !c.put(syncBody(c.h.RangeStart+uint64(len(c.payload)), c.h.Epoch)) {
				return false
			}
		}
		if !c.put(body) {
			return false
		}
	}
	return true
}

func (c *testChunk) put(body []byte) bool {
	if len(rawformat.AppendBlock(nil, body)) > int(c.h.Capacity)-len(c.payload) {
		return false
	}
	at := len(c.payload)
	if p := at / rawformat.PageSize; true {
		if _, ok := c.firsts[p]; !ok {
			c.firsts[p] = uint32(at % rawformat.PageSize)
		}
	}
	c.payload = rawformat.AppendBlock(c.payload, body)
	c.blocks++
	return true
}

// fill appends log blocks of different sizes up to offset to, short ones where
// no others fit.
func (c *testChunk) fill(to int, name string) *testChunk {
	for i := 0; len(c.payload) < to; i++ {
		text := fmt.Sprintf("%s %d epoch %d %s", name, i, c.h.Epoch, strings.Repeat(string(rune('a'+c.h.Epoch)), i*97%900))
		if !c.add(logBody(text)) && !c.add(logBody(name)) {
			break
		}
	}
	return c
}

// seal seals the first n pages; close closes the chunk and seals all.
func (c *testChunk) seal(n int) *testChunk { c.sealed = n; return c }

func (c *testChunk) close() *testChunk {
	c.h.State, c.h.Close = rawformat.StateDone, rawformat.Anchor{TSC: 11, Monotonic: 12, Realtime: 13}
	return c.seal(rawformat.Pages(uint32(len(c.payload))))
}

// file returns the bytes of the chunk file.
func (c *testChunk) file() []byte {
	c.h.Commit = rawformat.MakeCommit(uint32(len(c.payload)), c.blocks)
	b := make([]byte, rawformat.HeadSize+int(c.h.Capacity)+rawformat.TrailerSize)
	rawformat.PutHeader(b, &c.h)
	for p := range c.sealed {
		first, ok := c.firsts[p]
		if !ok {
			first = rawformat.PageSize
		}
		data := c.payload[p*rawformat.PageSize : min((p+1)*rawformat.PageSize, len(c.payload))]
		e := rawformat.MakePageEntry(rawformat.PageCRC(c.h.Instance, c.h.Epoch, data), first)
		binary.LittleEndian.PutUint64(b[rawformat.HeaderSize+8*p:], uint64(e))
	}
	copy(b[rawformat.HeadSize:], c.payload)
	rawformat.PutTrailer(b[len(b)-rawformat.TrailerSize:], c.h.Instance, c.h.Epoch)
	return b
}

// testRecords builds a dictionary, meta or exit file.
func testRecords(magic string, generation uint32, bodies ...[]byte) []byte {
	b := rawformat.AppendRecordHeader(nil, &rawformat.RecordHeader{Magic: magic, Instance: testInstance, Generation: generation, Pid: testPid})
	for _, body := range bodies {
		b = rawformat.AppendRecord(b, body, testInstance, generation)
	}
	return b
}

func metaBody(key, value string) []byte {
	return rawformat.AppendText(rawformat.AppendText([]byte{byte(rawformat.KindMeta)}, key), value)
}

func stringBody(id uint64, text string) []byte {
	return rawformat.AppendText(rawformat.AppendUint([]byte{byte(rawformat.KindDefString)}, id), text)
}

// dirOf makes a file system with these files in directory "p".
func dirOf(files map[string][]byte) fstest.MapFS {
	m := fstest.MapFS{}
	for name, data := range files {
		m["p/"+name] = &fstest.MapFile{Data: data, Mode: 0o600}
	}
	return m
}

func mustOpen(t testing.TB, fsys fs.FS) *Process {
	t.Helper()
	p, err := OpenProcess(fsys, "p")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// delivered is one block as it came out of a reader.
type delivered struct {
	index uint64
	body  string // kind and fields
	fresh bool
}

// readAllBlocks reads a process to its end, with all problems.
func readAllBlocks(t testing.TB, p *Process) (blocks []delivered, problems []Problem) {
	t.Helper()
	problems = withoutMissing(p.Problems)
	r := p.Blocks(func(pr Problem) { problems = append(problems, pr) })
	for r.Next() {
		b := r.Block()
		body := string([]byte{byte(b.Kind)}) + string(b.Fields.Bytes(b.Fields.Len(), "body"))
		blocks = append(blocks, delivered{b.Index, body, b.Fresh})
	}
	if err := r.Err(); err != nil {
		t.Fatalf("reading: %v", err)
	}
	if r.Next() {
		t.Error("a block behind the end")
	}
	return blocks, problems
}

// withoutMissing leaves out problems that do not matter to tests of single chunks.
func withoutMissing(problems []Problem) []Problem {
	return slices.DeleteFunc(slices.Clone(problems), func(p Problem) bool { return p.Class == Missing })
}

func countFiles(t testing.TB, dir string) int {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
