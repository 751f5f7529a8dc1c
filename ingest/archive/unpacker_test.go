package archive

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
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

// A decoder that was used before gives what a new one gives, and ends as it does, and so does unpacking at once.
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
		for how, again := range map[string]func(io.Reader) (io.ReadCloser, error){"used before": g.Gunzip, "at once": g.GunzipSmall} {
			got, err := unpack(open(), again)
			if got != want || fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Errorf("%s, %s: %d bytes, %v; of a new one: %d, %v", name, how, len(got), err, len(want), wantErr)
			}
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
			for k := range 20 {
				open := g.Gunzip
				if k%2 == 0 {
					open = g.GunzipSmall
				}
				z, err := open(bytes.NewReader(packed))
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

// Files of one member are unpacked at once, as gzip and Go's writers make them. Others are not: those that
// are larger than they may be, or say so, and what is followed by something.
func TestSmall(t *testing.T) {
	text, plain := gzipped(10_000, 1)
	named := packedAs(t, gzip.Header{Name: "profile.pb"}, text)
	lies := bytes.Clone(plain)
	lies[len(lies)-1] = 1
	for name, c := range map[string]struct {
		packed []byte
		ok     bool
	}{
		"plain": {plain, true}, "named": {named, true}, "empty": {packedAs(t, gzip.Header{}, nil), true},
		"a comment":   {packedAs(t, gzip.Header{Comment: "none"}, text), false},
		"a long name": {packedAs(t, gzip.Header{Name: strings.Repeat("n", maxGzipName)}, text), false},
		"lies":        {lies, false}, "two members": {append(bytes.Clone(plain), plain...), false}, "a byte more": {append(bytes.Clone(plain), 0), false},
		"large":     {packedAs(t, gzip.Header{}, make([]byte, maxSmallUnpacked+1)), false},
		"name only": {named[:gzipHeader+5], false}, "header only": {plain[:gzipHeader], false},
	} {
		s := small{packed: c.packed}
		if got, ok := s.unpack(); ok != c.ok || ok && name != "empty" && !bytes.Equal(got, text) {
			t.Errorf("%s: %v, %d bytes", name, ok, len(got))
		}
	}
	for _, size := range []int{maxSmall - 1<<10, maxSmall + 64<<10, 3 * maxSmall} { // what is too large is unpacked as well
		text, packed := gzipped(size, 2)
		if got, err := unpack(iotest.HalfReader(bytes.NewReader(packed)), new(Unpacker).GunzipSmall); got != string(text) || err != nil {
			t.Errorf("%d bytes: %d, %v", size, len(got), err)
		}
	}
}

func packedAs(t *testing.T, h gzip.Header, text []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Header = h
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
