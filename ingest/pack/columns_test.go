package pack

import (
	"bytes"
	"errors"
	"testing"

	"github.com/klauspost/compress/fse"

	"gprof/chunks/sections"
	"gprof/rawformat"
)

// lines are blocks with every type of field, in the text of package rawformat.
var lines = []string{
	`context goroutine=7 track=2 root=0`,
	`stack pcs=[4198400 4198500 4190000]`,
	`sample time=+1000 thread=11 goroutine=7 track=2 stack=1 weight=1 cpu=1001 window=0`,
	`sample time=+1000 thread=12 goroutine=8 track=0 stack=9 weight=1 cpu=0 window=990000000`,
	`same-sample time=-500 thread=11 goroutine=7 weight=1 cpu=1200`,
	`instant event=1 stack=0 time=+0 args=(-3 7u "a text" 1.5f)`,
	`instant event=1 stack=0 time=+0 args=(-3 7u "a text" -1.5f)`,
	`instant event=1 stack=0 time=+0 args=(-3 7u "" -1.5f)`,
	`instant event=2 stack=0 time=+5 args=()`,
	`interval event=1 stack=3 time=+70000 duration=65000 args=(1u)`,
	`start event=3 stack=0 time=+1 args=(18446744073709551615u)`,
	`end event=3 stack=0 time=+1 args=()`,
	`counter time=+0 counter=1 value=-5 number=3`,
	`counter time=+0 counter=2 value=+9223372036854775807 number=18446744073709551615`,
	`log time=+3 level=1 text="it said \"no\""`,
	`anchor time=+0 tsc=1 monotonic=2 realtime=+3 boottime=4`,
}

// chunkOf is a chunk file of those blocks, with a sync block before them.
func chunkOf(t testing.TB, size int, blocks ...[]byte) []byte {
	t.Helper()
	b := make([]byte, size)
	h := rawformat.Header{Instance: 9, Epoch: 3, RangeStart: 70000, Capacity: uint32(size - rawformat.HeadSize - rawformat.TrailerSize), State: rawformat.StateInUse, Held: 1}
	sync := []byte{byte(rawformat.KindSync)}
	for _, v := range []uint64{h.RangeStart, h.Epoch, 1_000_000_000, 1, 0} {
		sync = rawformat.AppendUint(sync, v)
	}
	payload := rawformat.AppendBlock(nil, sync)
	for _, block := range blocks {
		payload = append(payload, block...)
	}
	h.Commit = rawformat.MakeCommit(uint32(len(payload)), uint32(len(blocks)+1))
	rawformat.PutHeader(b, &h)
	copy(b[rawformat.HeadSize:], payload)
	rawformat.PutTrailer(b[size-rawformat.TrailerSize:], h.Instance, h.Epoch)
	return b
}

func blockOf(t testing.TB, line string) []byte {
	t.Helper()
	body, err := rawformat.ParseBlock(nil, line)
	if err != nil {
		t.Fatal(line, err)
	}
	return rawformat.AppendBlock(nil, body)
}

// Every field of every type comes back, and so does what is odd: integers that
// are longer than they need be, unknown kinds, fields of a later version, a
// block that is cut short.
func TestColumnsRoundTrip(t *testing.T) {
	var blocks [][]byte
	for range 20 {
		for _, line := range lines {
			blocks = append(blocks, blockOf(t, line))
		}
	}
	odd := [][]byte{
		{0x83, 0, byte(rawformat.KindInstant), 1, 0}, // long length, too few fields
		{3, 200, 1, 2}, // unknown kind
		{5, byte(rawformat.KindPause), 0x80, 0, 1, 9},                                     // long integer, and a field more
		rawformat.AppendBlock(nil, append([]byte{byte(rawformat.KindDefStack)}, 1, 2, 3)), // of another place
		{9, byte(rawformat.KindLog), 0},                                                   // cut short
	}
	e, d := newEncoder(), newDecoder()
	for i := range odd {
		raw := chunkOf(t, 64<<10, append(blocks, odd[:i+1]...)...)
		if !e.columns(sections.Chunk, raw) {
			t.Fatalf("%d odd blocks: not split", i)
		}
		got := make([]byte, len(raw))
		if err := d.join(got, e.buf); err != nil || !bytes.Equal(got, raw) {
			t.Fatalf("%d odd blocks: %v", i, err)
		}
		if len(e.buf) > 4000 {
			t.Errorf("%d bytes", len(e.buf))
		}
	}
}

// More lanes than are remembered can be split, since a forgotten one begins
// anew.
func TestManyLanes(t *testing.T) {
	var blocks [][]byte
	for i := range 3 * maxLanes {
		body := rawformat.AppendSint([]byte{byte(rawformat.KindSample)}, int64(i))
		for _, v := range []uint64{uint64(i % (maxLanes + 5)), 1, 2, 3, 4, 5, 6} {
			body = rawformat.AppendUint(body, v)
		}
		blocks = append(blocks, rawformat.AppendBlock(nil, body))
	}
	e := newEncoder()
	if !e.columns(sections.Chunk, chunkOf(t, 64<<10, blocks...)) {
		t.Error("not split")
	}
}

// Any bytes of a chunk or a dictionary come back as they were.
func FuzzSplit(f *testing.F) {
	for _, line := range lines {
		f.Add(blockOf(f, line), false)
	}
	f.Add(rawformat.AppendRecord(nil, []byte{byte(rawformat.KindDefStack), 1, 0, 1}, 1, 1), true)
	e := newEncoder()
	f.Fuzz(func(t *testing.T, b []byte, dict bool) {
		kind, raw := sections.Chunk, chunkOf(t, 64<<10+len(b)/rawformat.PageSize*rawformat.PageSize, b)
		if dict {
			kind = sections.Dict
			raw = append(rawformat.AppendRecordHeader(nil, &rawformat.RecordHeader{Magic: rawformat.MagicDict, Instance: 1, Generation: 1}), b...)
		}
		encoding, stored := e.encode(kind, raw)
		h := sections.Header{Kind: kind, Encoding: encoding, RawCRC: sections.Checksum(raw), StoredCRC: sections.Checksum(stored)}
		got := make([]byte, len(raw))
		if err := e.check.decode(got, &h, stored); err != nil || !bytes.Equal(got, raw) {
			t.Fatalf("encoding %d: %v", encoding, err)
		}
		if kind == sections.Chunk && encoding != sections.Columns {
			t.Errorf("encoding %d of a chunk", encoding)
		}
	})
}

// Columns that nobody wrote give an error, not a panic, and no more than was
// asked for.
func FuzzJoin(f *testing.F) {
	e := newEncoder()
	for _, line := range lines {
		if e.columns(sections.Chunk, chunkOf(f, 64<<10, blockOf(f, line), blockOf(f, line))) {
			f.Add(bytes.Clone(e.buf))
		}
	}
	d := newDecoder()
	dst := make([]byte, 64<<10)
	f.Fuzz(func(t *testing.T, b []byte) {
		err := d.join(dst, b)
		var format *rawformat.Error
		if err != nil && !errors.As(err, &format) && !errors.Is(err, rawformat.ErrSyntax) && !errors.Is(err, rawformat.ErrTooBig) &&
			!errors.Is(err, rawformat.ErrOverflow) && !errors.Is(err, rawformat.ErrTruncated) {
			t.Error(err)
		}
	})
}

// A column without tokens has no planes. One that claims to have some does not
// make the reader unpack them.
func TestEmptyColumn(t *testing.T) {
	many := make([]byte, 1<<20)
	many[7] = 1
	packed, err := fse.Compress(many, new(fse.Scratch))
	if err != nil {
		t.Fatal(err)
	}
	column := []byte{0, byte(asTheyAre), 0, 0, planeFSE}
	column = append(rawformat.AppendUint(column, uint64(len(packed))), packed...)
	r := newDecoder().reader(column, 1<<10)
	if _, c, err := r.read(); err != nil || c.left() != 0 || len(r.fse.Out) > 0 {
		t.Errorf("%v; %d bytes were unpacked", err, len(r.fse.Out))
	}
}
