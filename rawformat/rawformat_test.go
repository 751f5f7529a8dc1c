package rawformat

import (
	"bytes"
	"errors"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// The table itself: names are words, unique, and no field type is unknown.
func TestKindsTable(t *testing.T) {
	seen := map[string]bool{}
	for k, spec := range Kinds {
		if spec.Name == "" {
			if spec.Fields != nil {
				t.Errorf("kind %d has fields and no name", k)
			}
			continue
		}
		if seen[spec.Name] || spec.Name == rawWord {
			t.Errorf("kind %d: name %q twice", k, spec.Name)
		}
		seen[spec.Name] = true
		if spec.Introduced > Version {
			t.Errorf("%s: introduced in version %d, the newest is %d", spec.Name, spec.Introduced, Version)
		}
		if got, ok := KindOf(spec.Name); !ok || got != Kind(k) {
			t.Errorf("KindOf(%q) = %d, %v", spec.Name, got, ok)
		}
		for _, f := range spec.Fields {
			if f.Name == "" || strings.ContainsAny(f.Name, " =()[]\"") {
				t.Errorf("%s: field name %q is not a word", spec.Name, f.Name)
			}
		}
	}
	if Known := Kind(0).Known(); Known {
		t.Error("kind 0 is known")
	}
}

func TestUintLimits(t *testing.T) {
	for _, v := range []uint64{0, 1, 127, 128, 1<<14 - 1, 1 << 14, 1<<56 - 1, 1 << 56, 1 << 63, math.MaxUint64} {
		b := AppendUint(nil, v)
		if len(b) != UintSize(v) {
			t.Errorf("UintSize(%d) = %d, want %d", v, UintSize(v), len(b))
		}
		for _, slack := range []int{0, 16} {
			c := NewCursor(append(bytes.Clone(b), make([]byte, slack)...), 100)
			if got := c.Uint("v"); got != v || c.Err() != nil || c.Offset() != 100+int64(len(b)) {
				t.Errorf("Uint(%x) = %d, %v at %d; want %d", b, got, c.Err(), c.Offset(), v)
			}
		}
		c := NewCursor(b[:len(b)-1], 100)
		c.Uint("v")
		wantError(t, c.Err(), ErrTruncated, 100+int64(len(b)-1))
	}
	long := append(bytes.Repeat([]byte{0x80}, 9), 2)
	c := NewCursor(long, 7)
	c.Uint("v")
	wantError(t, c.Err(), ErrOverflow, 7+9)
	c = NewCursor(append(bytes.Repeat([]byte{0x80}, 10), 0), 7)
	c.Uint("v")
	wantError(t, c.Err(), ErrOverflow, 7+9)
}

func wantError(t *testing.T, err, class error, off int64) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || !errors.Is(err, class) || e.Off != off {
		t.Errorf("error %v, want %v at offset %d", err, class, off)
	}
}

// The reader of eight bytes at once agrees with the plain one.
func TestUintSWAR(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 100000 {
		b := make([]byte, 12)
		for i := range b {
			b[i] = byte(r.Uint32()) | byte(r.Uint32()&1)<<7
		}
		want, n, err := ReadUint(b)
		c := NewCursor(b, 0)
		got := c.Uint("v")
		if (err == nil) != (c.Err() == nil) || got != want || err == nil && c.Offset() != int64(n) {
			t.Fatalf("%x: %d, %v at %d; want %d, %v at %d", b, got, c.Err(), c.Offset(), want, err, n)
		}
	}
}

// Every kind, every field: text, bytes, text again.
func TestTextRoundTrip(t *testing.T) {
	for k, spec := range Kinds {
		if spec.Name == "" {
			continue
		}
		for seed := range uint64(50) {
			body := randomBody(rand.New(rand.NewPCG(seed, uint64(k))), Kind(k))
			line := string(FormatBlock(nil, body))
			if !strings.HasPrefix(line, spec.Name) {
				t.Fatalf("%x is written as %q", body, line)
			}
			back, err := ParseBlock(nil, line)
			if err != nil || !bytes.Equal(back, body) {
				t.Fatalf("%q gives %x, %v; want %x", line, back, err, body)
			}
		}
	}
}

func randomBody(r *rand.Rand, k Kind) []byte {
	body := []byte{byte(k)}
	num := func() uint64 { return r.Uint64() >> r.IntN(64) }
	text := func() string {
		b := make([]byte, r.IntN(20))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return string(b)
	}
	for _, f := range Kinds[k].Fields {
		switch f.Type {
		case Uint:
			body = AppendUint(body, num())
		case Sint, Time, Coarse:
			body = AppendSint(body, int64(num()))
		case Fixed:
			body = AppendFixed(body, num())
		case Text:
			body = AppendText(body, text())
		case PCs:
			pcs := make([]uint64, r.IntN(5))
			for i := range pcs {
				pcs[i] = num()
			}
			body = AppendPCs(body, pcs)
		case ArgSet:
			args := make([]Arg, r.IntN(MaxArgs+1))
			for i := range args {
				args[i] = []Arg{Int(int64(num())), Uint64(num()), {Wire: WireFloat, Num: r.Uint64()}, String(text())}[r.IntN(4)]
			}
			body = AppendArgs(body, args)
		}
	}
	return body
}

// Blocks that the text form cannot reproduce are written in hex.
func TestTextOfOddBlocks(t *testing.T) {
	for _, body := range [][]byte{
		{0},
		{200, 1, 2},
		{byte(KindPause), 2},            // a field is missing
		{byte(KindPause), 2, 0x80, 0},   // over-long integer
		{byte(KindPause), 2, 0, 9},      // a later version's field
		{byte(KindInstant), 1, 0, 2, 2}, // a shape without its top
		{byte(KindInstant), 1, 0, 2, 0}, // no shape
	} {
		line := string(FormatBlock(nil, body))
		back, err := ParseBlock(nil, line)
		if !strings.HasPrefix(line, rawWord+" ") || err != nil || !bytes.Equal(back, body) {
			t.Errorf("%x is written as %q and read as %x, %v", body, line, back, err)
		}
	}
}

func TestParseBlockErrors(t *testing.T) {
	for _, line := range []string{"", "nonsense x=1", "pause", "pause time=1", "pause time=+1 what=x", "pause time=+1 what=0 more=1",
		"log time=+1 level=0 text=\"x", "stack pcs=[0x1", "instant event=1 stack=0 time=+1 args=(1 2", "block", "block zz"} {
		if _, err := ParseBlock(nil, line); !errors.Is(err, ErrSyntax) && !errors.Is(err, ErrKind) {
			t.Errorf("ParseBlock(%q): %v", line, err)
		}
	}
}

func TestHeaderRoundTrip(t *testing.T) {
	h := Header{Version: Version, Flags: uint16(ClockTSC)<<8 | FlagStraddle, Instance: 1 << 60, Epoch: 3, Commit: MakeCommit(500, 7),
		RangeStart: 1 << 40, Capacity: 1000, FirstBlock: 10, Pid: 4, Writer: 5, Generation: 6, Discarded: 7,
		Open: Anchor{1, 2, -3}, State: StateDone, Close: Anchor{4, 5, 6}, Held: 9}
	b := make([]byte, HeaderSize)
	PutHeader(b, &h)
	got, sealed, err := ReadHeader(b)
	if err != nil || !sealed || got != h {
		t.Fatalf("%+v, %v, %v; want %+v", got, sealed, err, h)
	}
	// Every bit of the fixed fields counts; the others do not break the header.
	loose := func(i int) bool { return i >= OffCommit && i < 32 || i >= OffState && i < 120 }
	for i := range b {
		for bit := range 8 {
			b[i] ^= 1 << bit
			_, sealed, err := ReadHeader(b)
			if loose(i) != (err == nil) && b[OffEpoch] != 0 {
				t.Errorf("byte %d bit %d flipped: %v", i, bit, err)
			}
			if (i >= OffCommit && i < 32 || i >= 92 && i < 120) && sealed {
				t.Errorf("byte %d bit %d flipped: still sealed", i, bit)
			}
			b[i] ^= 1 << bit
		}
	}
}

// The seed is 16 bytes before the data, as the specification says.
func TestPageCRC(t *testing.T) {
	data := []byte("some page")
	seeded := AppendFixed(AppendFixed(nil, 0x1122334455667788), 0x99aa)
	want := crc32.Checksum(append(seeded, data...), crc32.MakeTable(crc32.Castagnoli))
	if got := PageCRC(0x1122334455667788, 0x99aa, data); got != want {
		t.Errorf("%#x, want %#x", got, want)
	}
	if n := testing.AllocsPerRun(10, func() { PageCRC(1, 2, data) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestRecords(t *testing.T) {
	head := RecordHeader{MagicDict, Version, 77, 2, 4}
	file := AppendRecordHeader(nil, &head)
	if got, err := ReadRecordHeader(file); err != nil || got != head || len(file) != RecordHeaderSize {
		t.Fatalf("%+v, %v", got, err)
	}
	one := AppendText([]byte{byte(KindDefString), 1}, "one")
	two := AppendText([]byte{byte(KindDefString), 2}, "two")
	file = AppendRecord(file, one, 77, 2)
	second := len(file)
	file = AppendRecord(file, two, 77, 2)
	file[second-6] ^= 1
	c := NewCursor(file[RecordHeaderSize:], RecordHeaderSize)
	if _, _, intact, ok := c.Record(77, 2); intact || !ok {
		t.Errorf("damaged record: intact %v, ok %v", intact, ok)
	}
	if _, f, intact, ok := c.Record(77, 2); !intact || !ok || f.Uint("id") != 2 || string(f.Text("text")) != "two" {
		t.Errorf("record behind a damaged one is lost: %v", c.Err())
	}
	if _, _, _, ok := c.Record(77, 2); ok || c.Err() != nil {
		t.Errorf("end: %v, %v", ok, c.Err())
	}
}

// FuzzBlock: no input panics, and the text twin is exact for any body.
func FuzzBlock(f *testing.F) {
	for k := range Kinds {
		if Kind(k).Known() {
			f.Add(randomBody(rand.New(rand.NewPCG(3, uint64(k))), Kind(k)))
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		c := NewCursor(body, 0)
		for {
			if _, _, ok := c.Block(); !ok {
				break
			}
		}
		if len(body) == 0 || len(body) > MaxBlock {
			return
		}
		back, err := ParseBlock(nil, string(FormatBlock(nil, body)))
		if err != nil || !bytes.Equal(back, body) {
			t.Fatalf("%x comes back as %x, %v", body, back, err)
		}
	})
}

// FuzzParseBlock: any line is refused or has exact bytes.
func FuzzParseBlock(f *testing.F) {
	f.Add("instant event=3 stack=0 time=+35 args=(12 7u 1.5f \"path\")")
	f.Add("block 0a0b")
	f.Fuzz(func(t *testing.T, line string) {
		body, err := ParseBlock(nil, line)
		if err != nil || len(body) > MaxBlock {
			return
		}
		back, err := ParseBlock(nil, string(FormatBlock(nil, body)))
		if err != nil || !bytes.Equal(back, body) {
			t.Fatalf("%q: %x comes back as %x, %v", line, body, back, err)
		}
	})
}
