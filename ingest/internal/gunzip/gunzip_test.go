package gunzip

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"
)

// contents are what a compressor treats differently.
func contents() [][]byte {
	r := rand.New(rand.NewPCG(1, 1))
	noise := make([]byte, 300_000)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	skewed := make([]byte, 300_000) // codes of up to 15 bits
	for i := range skewed {
		skewed[i] = byte(min(255, r.ExpFloat64()*12))
	}
	var text []byte
	for len(text) < 500_000 {
		text = append(text, "github.com/example/shop/"...)
		text = append(text, noise[r.IntN(100):][:r.IntN(40)]...)
		if far := len(text) - r.IntN(40_000); far > 0 {
			text = append(text, text[far:min(far+r.IntN(300), len(text))]...)
		}
	}
	return [][]byte{nil, []byte("x"), []byte("hello, hello, hello"), make([]byte, 400_000), bytes.Repeat([]byte("ab"), 100_000), noise, skewed, text}
}

func pack(t testing.TB, level int, content []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, level)
	if err != nil {
		t.Fatal(err)
	}
	w.Name, w.Comment, w.Extra = "name", "comment", []byte("extra")
	half := len(content) / 2
	w.Write(content[:half])
	w.Flush()
	w.Write(content[half:])
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

var levels = []int{gzip.NoCompression, gzip.BestSpeed, gzip.DefaultCompression, gzip.BestCompression, gzip.HuffmanOnly}

// All contents come out as they were, from one Reader, however they are read, and one after the other.
func TestReader(t *testing.T) {
	var z Reader
	var all, packed []byte
	for _, content := range contents() {
		for _, level := range levels {
			b := pack(t, level, content)
			for name, r := range map[string]io.Reader{"whole": bytes.NewReader(b), "bytes": iotest.OneByteReader(bytes.NewReader(b)), "end": iotest.DataErrReader(bytes.NewReader(b))} {
				if got, err := unpack(&z, r); err != nil || !bytes.Equal(got, content) {
					t.Fatalf("level %d, %s: %d bytes, %v; want %d", level, name, len(got), err, len(content))
				}
			}
			all, packed = append(all, content...), append(packed, b...)
		}
	}
	if got, err := unpack(&z, bytes.NewReader(packed)); err != nil || !bytes.Equal(got, all) {
		t.Errorf("members in a row: %d bytes, %v; want %d", len(got), err, len(all))
	}
	if err := z.Reset(bytes.NewReader(nil)); err != io.EOF {
		t.Errorf("nothing is %v", err)
	}
}

func unpack(z interface {
	io.Reader
	Reset(io.Reader) error
}, r io.Reader) ([]byte, error) {
	if err := z.Reset(r); err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// A stream that is cut gives what comes before, and nothing else.
func TestCut(t *testing.T) {
	var z Reader
	for _, content := range contents() {
		content = content[:min(len(content), 2000)]
		for _, level := range levels {
			b := pack(t, level, content)
			for n := range b {
				got := sameAsLibrary(t, &z, b[:n])
				if t.Failed() || !bytes.HasPrefix(content, got) {
					t.Fatalf("level %d, %d of %d bytes: %q", level, n, len(b), got)
				}
			}
		}
	}
}

// A damaged stream gives what the standard library makes of it.
func TestDamaged(t *testing.T) {
	var z Reader
	r := rand.New(rand.NewPCG(2, 2))
	for _, content := range contents() {
		content = content[:min(len(content), 3000)]
		for _, level := range levels {
			b := pack(t, level, content)
			for range 300 {
				bad := bytes.Clone(b)
				bad[r.IntN(len(bad))] ^= 1 << r.IntN(8)
				sameAsLibrary(t, &z, bad)
			}
		}
	}
}

// An error of the input comes out after what was read before it.
func TestInputError(t *testing.T) {
	broken := errors.New("broken")
	b := pack(t, gzip.DefaultCompression, contents()[7])
	var z Reader
	got, err := unpack(&z, io.MultiReader(bytes.NewReader(b[:len(b)/2]), iotest.ErrReader(broken)))
	if err != broken || len(got) < 100_000 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if err := z.Reset(iotest.ErrReader(broken)); err != broken {
		t.Errorf("at once: %v", err)
	}
	if err := z.Reset(idle{}); err != io.ErrNoProgress {
		t.Errorf("from a reader that gives nothing: %v", err)
	}
}

type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

func FuzzReader(f *testing.F) {
	for _, content := range contents() {
		for _, level := range levels {
			f.Add(pack(f, level, content[:min(len(content), 500)]))
		}
	}
	var z Reader
	f.Fuzz(func(t *testing.T, b []byte) { sameAsLibrary(t, &z, b) })
}

// sameAsLibrary checks that a stream gives the same bytes as by the standard library, and an error of the same kind. At a torn
// end it may give more, as far as codes are whole; and a bad code there may be either.
func sameAsLibrary(t *testing.T, z *Reader, b []byte) (got []byte) {
	t.Helper()
	want, wanted := unpack(new(gzip.Reader), bytes.NewReader(b))
	got, err := unpack(z, bytes.NewReader(b))
	if len(b) > 3 && b[3]>>5 != 0 && err == ErrHeader {
		return nil // flags that nobody knows are ignored by the library
	}
	if err != nil && wanted != nil && (err == io.ErrUnexpectedEOF || wanted == io.ErrUnexpectedEOF) {
		if !bytes.HasPrefix(got, want) && !bytes.HasPrefix(want, got) {
			t.Errorf("torn: %d bytes that are not the library's %d", len(got), len(want))
		}
		return got
	}
	if !bytes.Equal(got, want) || kind(err) != kind(wanted) {
		t.Errorf("%d bytes, %v; want %d, %v", len(got), err, len(want), wanted)
	}
	return got
}

// kind is the error of ours that another one is.
func kind(err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case err == gzip.ErrHeader:
		return ErrHeader
	case err == gzip.ErrChecksum:
		return ErrChecksum
	case errors.As(err, &corrupt):
		return ErrCorrupt
	}
	return err
}

func BenchmarkReader(b *testing.B) {
	content := contents()[7]
	packed := pack(b, gzip.DefaultCompression, content)
	for name, z := range map[string]interface {
		io.Reader
		Reset(io.Reader) error
	}{"ours": new(Reader), "library": new(gzip.Reader)} {
		b.Run("by="+name, func(b *testing.B) {
			b.SetBytes(int64(len(content)))
			for b.Loop() {
				if err := z.Reset(bytes.NewReader(packed)); err != nil {
					b.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, z); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
