package onegzip

import (
	"bufio"
	"bytes"
	stdgzip "compress/gzip"
	"io"
	"math/rand/v2"
	"testing"
)

func compress(t *testing.T, data []byte, level, step int) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := NewWriter(&out, level)
	if err != nil {
		t.Fatal(err)
	}
	for rest := data; len(rest) > 0; rest = rest[min(step, len(rest)):] {
		if _, err := w.Write(rest[:min(step, len(rest))]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func rows(n int) []byte {
	r := rand.New(rand.NewPCG(1, 1))
	var b bytes.Buffer
	for b.Len() < n {
		b.WriteString("[1" + string(rune('0'+r.IntN(10))) + ",12.5]\n")
	}
	return b.Bytes()[:n]
}

func TestRoundTrip(t *testing.T) {
	for _, n := range []int{0, 1, 100_000, 3_000_000} {
		data := rows(n)
		out := compress(t, data, 0, 65536)
		in := bufio.NewReader(bytes.NewReader(out))
		z, err := stdgzip.NewReader(in)
		if err != nil {
			t.Fatal(err)
		}
		z.Multistream(false)
		got, err := io.ReadAll(z)
		if err != nil || !bytes.Equal(got, data) {
			t.Fatalf("%d bytes come back as %d, %v", n, len(got), err)
		}
		if _, err := in.ReadByte(); err != io.EOF {
			t.Errorf("%d bytes: something follows the member", n)
		}
		if want := []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}; !bytes.Equal(out[:10], want) {
			t.Errorf("header % x, want % x", out[:10], want)
		}
	}
}

func TestSameBytes(t *testing.T) {
	data := rows(2_000_000)
	want := compress(t, data, 0, len(data))
	for _, step := range []int{65536, 99_999} {
		if !bytes.Equal(compress(t, data, 0, step), want) {
			t.Errorf("writes of %d bytes change the output", step)
		}
	}
}

func TestLevels(t *testing.T) {
	for _, level := range []int{-3, 10} {
		if _, err := NewWriter(io.Discard, level); err == nil {
			t.Errorf("level %d is taken", level)
		}
	}
	data := rows(1_000_000)
	if fast, small := len(compress(t, data, 1, 65536)), len(compress(t, data, 6, 65536)); small >= fast {
		t.Errorf("level 6 gives %d bytes, level 1 %d", small, fast)
	}
}
