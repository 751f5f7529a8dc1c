package inflate

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	fast "github.com/klauspost/compress/gzip"
)

const most = 1 << 20

// texts are what is packed: empty, short, that of which nothing, all, and most is a
// repetition, near and far.
func texts() map[string][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	noise, words, skewed := make([]byte, 200_000), []byte(nil), make([]byte, 300_000)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	for len(words) < 300_000 {
		words = fmt.Appendf(words, "runtime.function%d /src/file%d.go ", r.IntN(5000), r.IntN(300))
	}
	for i := range skewed { // so that some codes are long
		skewed[i] = byte(min(255, int(r.ExpFloat64()*6)))
	}
	return map[string][]byte{
		"empty": {}, "one": {'x'}, "short": []byte("a profile"), "same": bytes.Repeat([]byte{7}, 100_000),
		"near": []byte(strings.Repeat("abc", 50_000)), "noise": noise, "words": words, "skewed": skewed,
		"far": append(slices.Clone(noise[:32<<10]), noise[:32<<10]...),
	}
}

// packers are those of other libraries.
var packers = map[string]func(w io.Writer, level int) (io.WriteCloser, error){
	"std":  func(w io.Writer, level int) (io.WriteCloser, error) { return gzip.NewWriterLevel(w, level) },
	"fast": func(w io.Writer, level int) (io.WriteCloser, error) { return fast.NewWriterLevel(w, level) },
}

func pack(t testing.TB, packer string, text []byte, level int) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := packers[packer](&out, level)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// What others pack, at any level, is what it was.
func TestGunzip(t *testing.T) {
	var u Unpacker
	for name, text := range texts() {
		for packer := range packers {
			for _, level := range []int{gzip.HuffmanOnly, 0, 1, 5, 9} {
				packed := pack(t, packer, text, level)
				before := bytes.Clone(packed)
				out, ok := u.Gunzip(packed, most)
				if !ok || !bytes.Equal(out, text) {
					t.Errorf("%s, %s, level %d: %d bytes, %v; want %d", name, packer, level, len(out), ok, len(text))
				}
				if !bytes.Equal(packed, before) {
					t.Errorf("%s, %s, level %d: what was packed has changed", name, packer, level)
				}
			}
		}
	}
}

// What is not one whole member of bounded size is not taken.
func TestNotTaken(t *testing.T) {
	text := texts()["words"][:5000]
	packed := pack(t, "std", text, 5)
	flip := func(i int) []byte {
		out := bytes.Clone(packed)
		out[i] ^= 0x10
		return out
	}
	var u Unpacker
	for name, data := range map[string][]byte{
		"nothing": nil, "no gzip": []byte("this is some text, not a gzip file"), "two members": append(bytes.Clone(packed), packed...),
		"more behind it": append(bytes.Clone(packed), 0), "a name": flip(3), "another checksum": flip(len(packed) - 8),
		"another size": flip(len(packed) - 4), "damaged": flip(len(packed) / 2),
	} {
		if out, ok := u.Gunzip(data, most); ok {
			t.Errorf("%s: %d bytes", name, len(out))
		}
	}
	for i := range packed {
		if _, ok := u.Gunzip(packed[:i], most); ok {
			t.Errorf("cut at %d of %d bytes: taken", i, len(packed))
		}
	}
	if _, ok := u.Gunzip(packed, len(text)-1); ok {
		t.Error("more bytes than most: taken")
	}
}

// Whatever it is given, it takes nothing that the standard library does not, and
// gives the same.
func FuzzGunzip(f *testing.F) {
	for _, text := range texts() {
		for _, level := range []int{gzip.HuffmanOnly, 0, 1, 9} {
			f.Add(pack(f, "std", text[:min(len(text), 2000)], level))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		out, ok := new(Unpacker).Gunzip(data, most)
		if !ok {
			return
		}
		r, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		want, err := io.ReadAll(r)
		if err != nil || !bytes.Equal(out, want) {
			t.Errorf("%d bytes, the standard library: %d, %v", len(out), len(want), err)
		}
	})
}

// go test ./ingest/internal/inflate -bench . -count 5
func BenchmarkGunzip(b *testing.B) {
	text := texts()["words"]
	packed := pack(b, "std", text, gzip.BestSpeed)
	b.Run("by=us", func(b *testing.B) {
		var u Unpacker
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			if _, ok := u.Gunzip(packed, most); !ok {
				b.Fatal("not taken")
			}
		}
	})
	b.Run("by=klauspost", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		var r fast.Reader
		out := make([]byte, len(text))
		for b.Loop() {
			if err := r.Reset(bytes.NewReader(packed)); err != nil {
				b.Fatal(err)
			}
			if _, err := io.ReadFull(&r, out); err != nil {
				b.Fatal(err)
			}
		}
	})
}
