package chunks

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"gprof/rawformat"
)

// textOf is the text of a file; it checks that the bytes can be restored from it.
func textOf(t testing.TB, data []byte) string {
	t.Helper()
	var b strings.Builder
	if err := FormatFile(&b, data); err != nil {
		t.Fatal(err)
	}
	back, err := ParseFile(b.String())
	if err != nil {
		t.Fatalf("%v in\n%.2000s", err, b.String())
	}
	if !bytes.Equal(back, data) {
		i := 0
		for i < min(len(back), len(data)) && back[i] == data[i] {
			i++
		}
		t.Fatalf("%d bytes come back as %d, different from byte %d on:\n%.2000s", len(data), len(back), i, b.String())
	}
	return b.String()
}

// recordFiles returns a dictionary, a meta and an exit file.
func recordFiles() map[string][]byte {
	dict, _ := dictFile(4)
	return map[string][]byte{
		"dict": dict,
		"meta": testRecords(rawformat.MagicMeta, 0, metaBody("service", "a \"shop\"\n")),
		"exit": testRecords(rawformat.MagicExit, 0, exitBody(1, 2, 3)),
	}
}

// Every file can be restored from its text, whole or cut or with any byte changed.
func TestTextExact(t *testing.T) {
	t.Parallel()
	files := fixtureFiles()
	a, b := straddling(100)
	files["head"], files["tail"] = a.close().file(), b.file()
	for name, data := range recordFiles() {
		files[name] = data
	}
	files["empty"], files["zeros"], files["no file"] = nil, make([]byte, 3<<20), []byte("something else")
	for name, data := range files {
		textOf(t, data)
		textOf(t, append(bytes.Clone(data), "more"...))
		for n := 0; n < len(data); n += 1 + n/50 {
			textOf(t, data[:n])
		}
		if name == "zeros" {
			continue
		}
		for i := 0; i < len(data); i += 1 + i/100 {
			data[i] ^= 0x41
			textOf(t, data)
			data[i] ^= 0x41
		}
	}
}

// The text of an intact file has no checksum and nothing in hex.
func TestTextIsPlain(t *testing.T) {
	files := recordFiles()
	files["chunk"] = newTestChunk(1, 5, smallCapacity).fill(smallCapacity-50, "a").close().file()
	for name, data := range files {
		text := textOf(t, data)
		for line := range strings.Lines(text) {
			switch word, _, _ := strings.Cut(line, " "); word {
			case wordBytes, wordZero, wordEntry, wordTrailer, wordCut, wordCRC, "block":
				t.Errorf("%s: %s", name, line)
			}
		}
		if strings.Contains(text, "crc=") {
			t.Errorf("%s: %.300s", name, text)
		}
	}
}

// A fixture that is written by hand needs neither checksum nor commit nor page table.
func TestTextByHand(t *testing.T) {
	file, err := ParseFile(`
# one page, sealed
gprC instance=0x1122334455667788 epoch=5 range-start=1 pid=4711 writer=3 generation=1 state=1 held=1
open tsc=1 monotonic=2 realtime=3
sealed 1
sync index=1 epoch=5 time=1000 goroutine=7 track=0
log time=+1 level=0 text="by hand"
uncommitted
bytes 0a0b0c
`)
	if err != nil {
		t.Fatal(err)
	}
	c := newTestChunk(1, 5, rawformat.ChunkAlign-rawformat.HeadSize-rawformat.TrailerSize)
	c.add(logBody("by hand"))
	want := c.seal(1).file()
	copy(want[rawformat.HeadSize+len(c.payload):], "\x0a\x0b\x0c")
	if !bytes.Equal(file, want) {
		t.Errorf("got\n%s\nwant\n%s", textOf(t, file), textOf(t, want))
	}
	blocks, problems := readBytes(t, file)
	if len(blocks) != 2 || len(problems) != 0 {
		t.Errorf("%v, %v", blocks, problems)
	}
}

// The whole text of a small damaged file: each kind of line, in its place.
func TestTextLines(t *testing.T) {
	c := newTestChunk(1, 5, 300).fill(40, "a").close()
	c.h.Flags = uint16(rawformat.ClockTSC) << 8
	file := c.file()
	file[rawformat.OffFixedCRC]++
	file[rawformat.HeaderSize]++
	file[rawformat.HeadSize+len(c.payload)] = 9
	file[len(file)-1] = 1
	got := textOf(t, append(file, "xyz"...))
	for _, want := range []string{
		"gprC version=0 flags=0x100 instance=0x1122334455667788 epoch=5 commit=", " range-start=1 capacity=300 first-block=0 pid=4711 writer=3 generation=1 discarded=0 state=3 held=1 crc=0x",
		"\nopen tsc=1 monotonic=2 realtime=3\nclose tsc=11 monotonic=12 realtime=13\nsealed 1\nentry 0 0x1",
		"\n# page 0\nsync index=1 epoch=5 time=1000 goroutine=7 track=0\nlog time=+1 level=0 text=\"a 0 epoch 5 \"\n",
		"\nuncommitted\nbytes 09\ntrailer instance=0x1122334455667788 epoch=72057594037927941\nbytes 78797a\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	meta := testRecords(rawformat.MagicMeta, 0, metaBody("k", "v"))
	copy(meta[len(meta)-4:], "\x04\x03\x02\x01")
	meta[rawformat.OffRecordCRC]++
	got = textOf(t, append(meta, 1, 2))
	want := "gprM version=0 instance=0x1122334455667788 generation=0 pid=4711 crc=0x"
	if !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "\nmeta key=\"k\" value=\"v\"\ncrc 0x1020304\nbytes 0102\n") {
		t.Errorf("got\n%s", got)
	}
}

// None of our words is the name of a kind.
func TestTextWords(t *testing.T) {
	for _, word := range []string{wordOpen, wordClose, wordSealed, wordEntry, wordBytes, wordZero, wordUncommitted, wordTrailer, wordCut, wordCRC} {
		if _, ok := rawformat.KindOf(word); ok {
			t.Errorf("%s is a kind", word)
		}
	}
}

func TestParseFileErrors(t *testing.T) {
	for _, test := range []struct {
		text  string
		class error
		line  string
	}{
		{"nonsense", rawformat.ErrKind, "line 1"},
		{"\n# x\ngprC epoch=x", rawformat.ErrSyntax, "line 3"},
		{"gprC surprise=1", rawformat.ErrSyntax, "line 1"},
		{"gprC commit=1", rawformat.ErrSyntax, "line 1"},
		{"gprC capacity=1048576", rawformat.ErrTooBig, "line 1"},
		{"gprC\ngprC", rawformat.ErrSyntax, "line 2"},
		{"gprC\nsealed 497", rawformat.ErrSyntax, "line 2"},
		{"gprC\nentry 496 1", rawformat.ErrSyntax, "line 2"},
		{"gprC\ncrc 1", rawformat.ErrSyntax, "line 2"},
		{"gprC capacity=9\nzero 10\ntrailer", rawformat.ErrSyntax, "line 3"},
		{"gprC capacity=9\nzero 10", rawformat.ErrTooBig, ""},
		{"gprC\nzero 1048576", rawformat.ErrTooBig, "line 2"},
		{"gprD\nsealed 1", rawformat.ErrKind, "line 2"},
		{"gprD\nbytes 0", rawformat.ErrSyntax, "line 2"},
		{"zero 1048577", rawformat.ErrSyntax, "line 1"},
		{"gprM magic=1", rawformat.ErrSyntax, "line 1"},
	} {
		if _, err := ParseFile(test.text); !errors.Is(err, test.class) || !strings.Contains(err.Error(), test.line) {
			t.Errorf("%q: %v, want %v in %s", test.text, err, test.class, test.line)
		}
	}
}
