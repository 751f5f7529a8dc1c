package archive

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"
)

// Inputs that are no bombs one by one are given up when all together unpack to too
// much for what they have. Zeros hardly count.
func TestBudget(t *testing.T) {
	var text, zeros bytes.Buffer
	for to, from := range map[*bytes.Buffer]string{&text: "A", &zeros: "\x00"} {
		if err := packTo(to, strings.Repeat(from, 4<<20)); err != nil {
			t.Fatal(err)
		}
	}
	for name, open := range map[string]func(*Unpacker, io.Reader) (io.ReadCloser, error){"stream": (*Unpacker).Gunzip, "at once": (*Unpacker).GunzipSmall} {
		t.Run(name, func(t *testing.T) { testBudget(t, open, zeros.Bytes(), text.Bytes()) })
	}
}

func testBudget(t *testing.T, open func(*Unpacker, io.Reader) (io.ReadCloser, error), zeros, text []byte) {
	var u Unpacker
	read := func(packed []byte) error {
		z, err := open(&u, bytes.NewReader(packed))
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, z)
		return errors.Join(err, z.Close())
	}
	u.unpacked.Store(runBytes - 6<<20) // as if that much had come already
	for range 2 {
		if err := read(zeros); err != nil || u.Spent() {
			t.Fatalf("zeros: %v", err)
		}
	}
	if err := read(text); err != nil {
		t.Fatalf("the first text: %v", err)
	}
	if err := read(text); !errors.Is(err, ErrBomb) || !u.Spent() {
		t.Errorf("one more text: %v", err)
	}
}

func packTo(w io.Writer, text string) error {
	z := gzip.NewWriter(w)
	_, err := io.WriteString(z, text)
	return errors.Join(err, z.Close())
}
