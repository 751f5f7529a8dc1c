package archive

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/iotest"
)

// gzipped packs what differs by seed, and does not shrink.
func gzipped(size int, seed uint64) (text, packed []byte) {
	r := rand.New(rand.NewPCG(seed, 0))
	text = make([]byte, size)
	for i := range text {
		text[i] = byte(r.Uint32())
	}
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Write(text)
	w.Close()
	return text, out.Bytes()
}

// unpack is what comes of a stream, and how it ends.
func unpack(r io.Reader, open func(io.Reader) (io.ReadCloser, error)) (string, error) {
	z, err := open(r)
	if err != nil {
		return "", err
	}
	defer z.Close()
	out, err := io.ReadAll(z)
	return string(out), err
}

// A decoder that was used before gives what a new one gives, and ends as it does.
func TestUnpacker(t *testing.T) {
	_, small := gzipped(10_000, 1)
	_, large := gzipped(300_000, 2)
	_, zeros := gzipped(0, 3)
	broken := bytes.Clone(small)
	broken[len(broken)-6] ^= 1
	errLost := errors.New("connection lost")
	var g Unpacker
	for name, open := range map[string]func() io.Reader{
		"small":        func() io.Reader { return bytes.NewReader(small) },
		"large":        func() io.Reader { return bytes.NewReader(large) },
		"empty":        func() io.Reader { return bytes.NewReader(zeros) },
		"nothing":      func() io.Reader { return bytes.NewReader(nil) },
		"two members":  func() io.Reader { return io.MultiReader(bytes.NewReader(small), bytes.NewReader(small)) },
		"torn":         func() io.Reader { return bytes.NewReader(small[:len(small)/2]) },
		"no trailer":   func() io.Reader { return bytes.NewReader(small[:len(small)-3]) },
		"damaged":      func() io.Reader { return bytes.NewReader(broken) },
		"no gzip":      func() io.Reader { return bytes.NewReader([]byte("some text, and not a gzip file")) },
		"lost":         func() io.Reader { return io.MultiReader(bytes.NewReader(small[:5000]), iotest.ErrReader(errLost)) },
		"lost later":   func() io.Reader { return io.MultiReader(bytes.NewReader(large[:200_000]), iotest.ErrReader(errLost)) },
		"byte by byte": func() io.Reader { return iotest.OneByteReader(bytes.NewReader(small)) },
	} {
		want, wantErr := unpack(open(), new(Unpacker).Gunzip)
		got, err := unpack(open(), g.Gunzip)
		if got != want || fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Errorf("%s: %d bytes, %v; of a new one: %d, %v", name, len(got), err, len(want), wantErr)
		}
	}
}

// Streams that are unpacked at the same time stay apart. One that is closed twice
// gives its memory back only once.
func TestUnpackerApart(t *testing.T) {
	var g Unpacker
	var all sync.WaitGroup
	for i := range uint64(8) {
		all.Go(func() {
			text, packed := gzipped(20_000, i)
			for range 20 {
				z, err := g.Gunzip(bytes.NewReader(packed))
				if err != nil {
					t.Error(err)
					return
				}
				if out, err := io.ReadAll(z); err != nil || !bytes.Equal(out, text) {
					t.Errorf("stream %d: %d bytes, %v", i, len(out), err)
				}
				z.Close()
				z.Close()
				if _, err := z.Read(make([]byte, 1)); err == nil {
					t.Error("what is closed can be read")
				}
			}
		})
	}
	all.Wait()
}
