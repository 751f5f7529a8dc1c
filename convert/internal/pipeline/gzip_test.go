package pipeline

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"testing"
)

// compress makes a member of fragments of step bytes, their levels in turn.
func compress(data []byte, step int, levels ...int) []byte {
	var d deflater
	var m member
	out := m.header()
	for i := 0; len(data) > 0; i++ {
		text := data[:min(step, len(data))]
		data = data[len(text):]
		out = d.append(out, text, levels[i%len(levels)])
		m.add(crc32.ChecksumIEEE(text), len(text))
	}
	return append(out, m.trailer()...)
}

func rows(n int) []byte {
	r := rand.New(rand.NewPCG(1, 1))
	var b bytes.Buffer
	for b.Len() < n {
		b.WriteString("[1" + string(rune('0'+r.IntN(10))) + ",12.5]\n")
	}
	return b.Bytes()[:n]
}

// The standard library reads the file, checks its sums, and finds nothing after it.
func TestRoundTrip(t *testing.T) {
	for _, n := range []int{0, 1, 2, 100_000, 3_000_000} {
		data := rows(n)
		out := compress(data, 65537, huffman, fast, 6)
		in := bufio.NewReader(bytes.NewReader(out))
		z, err := gzip.NewReader(in)
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
	}
}

// A fragment does not depend on what the same Deflater has done before.
func TestHistory(t *testing.T) {
	data := rows(1_000_000)
	for _, level := range []int{huffman, 1, fast, 6} {
		var fresh, used deflater
		want := fresh.append(nil, data[:200_000], level)
		for i, n := range []int{999_999, 1, 300_000, 70_000} {
			used.append(nil, data[i:n], level)
			if got := used.append(nil, data[:200_000], level); !bytes.Equal(got, want) {
				t.Errorf("level %d, after a fragment of %d bytes: other output", level, n-i)
			}
		}
	}
}

func FuzzMember(f *testing.F) {
	f.Add([]byte("text"), 1)
	f.Add(rows(5000), 999)
	f.Fuzz(func(t *testing.T, data []byte, step int) {
		z, err := gzip.NewReader(bytes.NewReader(compress(data, max(1, step), huffman, fast)))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(z); err != nil || !bytes.Equal(got, data) {
			t.Fatalf("%q in steps of %d comes back as %q, %v", data, step, got, err)
		}
	})
}

func TestLevels(t *testing.T) {
	for _, level := range []int{-3, -1, 0, 10} {
		if checkLevel(level) == nil {
			t.Errorf("level %d is taken", level)
		}
	}
	data := rows(1_000_000)
	var sizes []int
	for _, level := range []int{6, 1, huffman} {
		if err := checkLevel(level); err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, len(compress(data, 65536, level)))
	}
	if sizes[0] >= sizes[1] || sizes[1] >= sizes[2] || sizes[2] >= len(data) {
		t.Errorf("%d bytes become %d at level 6, 1 and Huffman", len(data), sizes)
	}
}
