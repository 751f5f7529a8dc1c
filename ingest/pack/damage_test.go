package pack_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"testing"

	"gprof/chunks"
	"gprof/chunks/sections"
	"gprof/ingest/pack"
	"gprof/rawformat"
)

// smallArchive is an archive of two processes, in chunks of one page.
func smallArchive(t testing.TB) (data []byte, want map[string]string) {
	t.Helper()
	dir := build(t, "../../fixtures/recordings/family.txtar")
	data = packed(t, session(t, dir), pack.Options{})
	return data, files(t, open(t, data))
}

// survey reads all files of an archive, whatever state it is in: those that can
// be read, and the names of those that can't.
func survey(t testing.TB, data []byte) (read map[string]string, broken []string) {
	t.Helper()
	return surveyBy(t, pack.Open, data)
}

// opener is a way to open an archive.
type opener func(io.ReaderAt, int64) (*pack.Archive, error)

func surveyBy(t testing.TB, open opener, data []byte) (read map[string]string, broken []string) {
	t.Helper()
	a, err := open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		if !errors.Is(err, rawformat.ErrMagic) {
			t.Fatal(err)
		}
		return nil, nil
	}
	read = map[string]string{}
	must(t, fs.WalkDir(a, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := fs.ReadFile(a, name)
		var format *rawformat.Error
		switch {
		case err == nil:
			read[name] = string(content)
		case errors.As(err, &format):
			broken = append(broken, name)
		default:
			t.Fatalf("%s: %v", name, err)
		}
		return nil
	}))
	if len(a.Problems) == 0 && len(broken) > 0 {
		return read, broken
	}
	for _, p := range a.Problems {
		var format *rawformat.Error
		if !errors.As(p, &format) || format.Off < 0 || format.Off > int64(len(data)) {
			t.Fatalf("problem %v", p)
		}
	}
	return read, broken
}

// sound fails on content that was never packed. A chunk that is not there any
// more may be there with its head alone.
func sound(t testing.TB, got, want map[string]string) {
	t.Helper()
	for name, content := range got {
		if content == want[name] {
			continue
		}
		head := content[:min(len(content), rawformat.HeaderSize)]
		if len(content) != rawformat.HeadSize || len(want[name]) < len(head) || head != want[name][:len(head)] {
			t.Fatalf("%s was invented: %d bytes", name, len(content))
		}
	}
}

// An archive that is cut anywhere holds what lies before the cut.
func TestCutAnywhere(t *testing.T) {
	data, want := smallArchive(t)
	last := map[string]string{}
	for n := range data {
		got, _ := survey(t, data[:n])
		sound(t, got, want)
		for name, content := range last {
			if content == want[name] && got[name] != content {
				t.Fatalf("cut at %d: %s is gone, with a byte less it was there", n, name)
			}
		}
		last = got
	}
	if !maps.Equal(last, want) {
		t.Error("without the last byte of its end something is missing")
	}
}

// A changed byte costs at most the file that it belongs to; in an index it
// costs none.
func TestFlipEveryByte(t *testing.T) {
	t.Run("near", func(t *testing.T) { flipEveryByte(t, pack.Open) })
	t.Run("far", func(t *testing.T) { flipEveryByte(t, pack.OpenFar) })
}

func flipEveryByte(t *testing.T, open opener) {
	data, want := smallArchive(t)
	costs := 0
	for i := range data {
		data[i] ^= 1 << (i % 8)
		got, _ := surveyBy(t, open, data)
		sound(t, got, want)
		lost := 0
		for name, content := range want {
			if got[name] != content {
				lost++
			}
		}
		if lost > 1 && i > 3 {
			t.Fatalf("byte %d flipped costs %d files", i, lost)
		}
		costs += lost
		data[i] ^= 1 << (i % 8)
	}
	if costs < len(data)/2 {
		t.Errorf("%d flips of %d cost something: are checksums compared?", costs, len(data))
	}
}

// A damaged directory is noticed where the headers are read, and does not matter far away.
func TestDamagedDirectory(t *testing.T) {
	data, want := smallArchive(t)
	at := bytes.LastIndex(data[:len(data)-sections.HeaderSize], []byte(sections.Magic))
	data[at+sections.HeaderSize+9] ^= 1
	near := open(t, data)
	if len(near.Problems) != 1 || !errors.Is(near.Problems[0], rawformat.ErrChecksum) {
		t.Errorf("%v", near.Problems)
	}
	if got, broken := surveyBy(t, pack.OpenFar, data); !maps.Equal(got, want) || len(broken) > 0 {
		t.Errorf("%d files, %v", len(got), broken)
	}
}

// counted counts what is read.
type counted struct {
	*bytes.Reader
	calls, bytes int
}

func (c *counted) ReadAt(p []byte, off int64) (int, error) {
	c.calls++
	c.bytes += len(p)
	return c.Reader.ReadAt(p, off)
}

// An archive far away is opened by few requests, however many sections it has, and looks the same.
func TestOpenFar(t *testing.T) {
	data, want := smallArchive(t)
	r := &counted{Reader: bytes.NewReader(data)}
	a, err := pack.OpenFar(r, int64(len(data)))
	must(t, err)
	processes := len(a.Instances())
	if r.calls > 4+processes { // the magic, the end, the directory and its header, an index each
		t.Errorf("%d requests for %d processes in %d bytes", r.calls, processes, len(data))
	}
	if got := files(t, a); !maps.Equal(got, want) {
		t.Errorf("%d files, want %d", len(got), len(want))
	}
	// One without a directory, or with bytes behind its end, is read by its sections.
	for _, other := range [][]byte{append(bytes.Clone(data), 0), data[:len(data)-1]} {
		if got, _ := surveyBy(t, pack.OpenFar, other); !maps.Equal(got, want) {
			t.Errorf("%d files, want %d", len(got), len(want))
		}
	}
}

// A chunk that is damaged in an archive is a damaged chunk of the recording,
// and the other chunks are read.
func TestDamagedChunk(t *testing.T) {
	data := packed(t, session(t, build(t, "../../fixtures/recordings/sealed.txtar")), pack.Options{})
	at := len(data)
	for range 3 { // the end, the directory, a chunk
		at = bytes.LastIndex(data[:at], []byte(sections.Magic))
	}
	data[at+100] ^= 1
	a := open(t, data)
	p, err := chunks.OpenProcess(a, "00000000000000e1")
	must(t, err)
	blocks := 0
	var problems []chunks.Problem
	r := p.Blocks(func(p chunks.Problem) { problems = append(problems, p) })
	for r.Next() {
		blocks++
	}
	if blocks != 6 || len(problems) != 1 || problems[0].Where != "chunk-00001" || problems[0].Blocks != 5 {
		t.Errorf("%d blocks, %v, %v", blocks, problems, r.Err())
	}
}

// Bytes that nobody packed are read in bounded memory, without a panic.
func FuzzOpen(f *testing.F) {
	for _, name := range recordings(f)[:2] {
		f.Add(packed(f, session(f, build(f, name)), pack.Options{}))
	}
	f.Add([]byte(sections.Magic))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, open := range []opener{pack.Open, pack.OpenFar} {
			surveyBy(t, open, data)
			repaired := bytes.Clone(data)
			repair(repaired)
			surveyBy(t, open, repaired)
		}
	})
}

// repair makes the checksums of sections fit, so that what is behind them is
// reached.
func repair(data []byte) {
	for at := 0; at+40 <= len(data) && string(data[at:at+4]) == sections.Magic; {
		h := data[at : at+40]
		size := int(le.Uint32(h[24:]))
		if size > len(data)-at-40 {
			size = len(data) - at - 40
			le.PutUint32(h[24:], uint32(size))
		}
		le.PutUint32(h[20:], le.Uint32(h[20:])%(1<<20+1))
		le.PutUint32(h[32:], crc(data[at+40:at+40+size]))
		le.PutUint32(h[36:], crc(h[:36]))
		at += 40 + size
	}
}

// Noise comes back as it was: a session can be packed with any files.
func TestNoise(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	noise := make([]byte, 200_000)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	dir := map[string]string{"chunk-00000": string(noise), "chunk-00001": "", "chunk-00002": "gprC", "dict-001": string(noise[:33]), "meta": "gprM", "exit": ""}
	data := packed(t, []pack.Process{{Instance: 1, FS: mapFS(dir), Dir: "."}}, pack.Options{})
	want := map[string]string{}
	for name, content := range dir {
		want["0000000000000001/"+name] = content
	}
	if got := files(t, open(t, data)); !maps.Equal(got, want) {
		t.Error("noise does not come back")
	}
}
