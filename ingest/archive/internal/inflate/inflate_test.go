package inflate

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// texts are of all kinds: what hardly shrinks, what repeats near and far, codes of all lengths.
func texts() map[string][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 150_000)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	var numbers, skewed []byte
	for range 40_000 {
		numbers = binary.AppendUvarint(numbers, uint64(r.ExpFloat64()*300))
		skewed = append(skewed, byte(r.ExpFloat64()*6))
	}
	for i := range 20 { // rare bytes have the longest codes
		skewed = append(skewed, byte(200+i))
	}
	return map[string][]byte{
		"nothing": {}, "a byte": {7}, "noise": noise, "numbers": numbers, "skewed": skewed,
		"zeros": make([]byte, 100_000), "pairs": bytes.Repeat([]byte{1, 2}, 5000), "far": bytes.Repeat(noise[:32_000], 3),
		"words": []byte(strings.Repeat("a marker, a sample and a stack; ", 2000)),
	}
}

func deflated(tb testing.TB, text []byte, level int) []byte {
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, level)
	if err == nil {
		_, err = w.Write(text[:len(text)/2])
	}
	if err == nil {
		err = w.Flush() // an empty stored block
	}
	if err == nil {
		_, err = w.Write(text[len(text)/2:])
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

// Streams of all levels give what was packed, whether or not there is room to spare behind them or something follows.
// A decoder that was used for others does, too.
func TestDecode(t *testing.T) {
	var d Decoder
	for name, text := range texts() {
		for level := flate.HuffmanOnly; level <= flate.BestCompression; level++ {
			packed := deflated(t, text, level)
			for _, spare := range []int{0, 1, Slack, 1000} {
				out := make([]byte, len(text)+spare)
				read, made, ok := d.Decode(out, append(bytes.Clone(packed), make([]byte, spare)...))
				if !ok || read != len(packed) || !bytes.Equal(out[:made], text) {
					t.Fatalf("%s at level %d, %d bytes to spare: %v, read %d of %d, made %d of %d", name, level, spare, ok, read, len(packed), made, len(text))
				}
			}
		}
	}
}

// A stream is refused that is cut anywhere, or for which there is no room.
func TestRefused(t *testing.T) {
	var d Decoder
	for name, text := range texts() {
		packed := deflated(t, text, 6)
		out := make([]byte, len(text)+Slack)
		for n := 0; n < len(packed); n += 1 + n/100 {
			if _, _, ok := d.Decode(out, packed[:n]); ok {
				t.Fatalf("%s: %d bytes of %d suffice", name, n, len(packed))
			}
		}
		for n := 0; n < len(text); n += 1 + n/100 {
			if _, _, ok := d.Decode(out[:n:n], packed); ok {
				t.Fatalf("%s: there is room for %d bytes of %d", name, n, len(text))
			}
		}
	}
}

// Streams with a flipped bit end as they do for the standard library.
func TestFlipped(t *testing.T) {
	for name, text := range texts() {
		packed := deflated(t, text[:min(len(text), 5000)], 6)
		for i := range min(8*len(packed), 3000) {
			broken := bytes.Clone(packed)
			broken[i/8] ^= 1 << (i % 8)
			if err := compare(broken); err != nil {
				t.Fatalf("%s, bit %d: %v", name, i, err)
			}
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, text := range texts() {
		for _, level := range []int{flate.HuffmanOnly, 0, 1, 9} {
			f.Add(deflated(f, text[:min(len(text), 2000)], level))
		}
	}
	f.Add([]byte{0x4b, 0x4c, 0x04, 0x00}) // codes that are known beforehand
	f.Fuzz(func(t *testing.T, packed []byte) {
		if err := compare(packed); err != nil {
			t.Error(err)
		}
	})
}

// compare compares a Decoder with the standard library.
func compare(packed []byte) error {
	const most = 1 << 20
	in := bytes.NewReader(packed)
	want, err := io.ReadAll(io.LimitReader(flate.NewReader(in), most+1))
	if len(want) > most {
		return nil
	}
	out := make([]byte, most)
	read, made, ok := new(Decoder).Decode(out, packed)
	switch {
	case ok != (err == nil):
		return fmt.Errorf("%v, want %w", ok, err)
	case ok && (read != len(packed)-in.Len() || !bytes.Equal(out[:made], want)):
		return fmt.Errorf("read %d and made %d bytes, want %d and %d", read, made, len(packed)-in.Len(), len(want))
	}
	return nil
}
