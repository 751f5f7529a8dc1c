package bench

import (
	"bytes"
	"io"
	"os"
	"testing"

	"gprof/convert"
	"gprof/fixtures"
	"gprof/ingest"
	"gprof/rawformat"
	"gprof/stream"
)

// events is how many events the recording of the benchmarks holds: markers with
// two arguments, and every fourth a sample.
const events = 400_000

// record writes the recording and returns its session directory and the number
// of its payload bytes.
func record(b *testing.B) (session string, size int64) {
	b.Helper()
	session = b.TempDir()
	r, err := fixtures.New(session, fixtures.Options{ChunkFile: 256 << 10, Limit: 64 << 20})
	must(b, err)
	must(b, r.Define(
		`def-string id=1 text="main.main"`, `def-string id=2 text="main.work"`, `def-string id=3 text="/src/main.go"`,
		`def-module id=1 path="/bin/prog" build="abc" start=4194304 end=8388608 offset=0`,
		`def-frame id=1 module=1 offset=16`, `def-frame id=2 module=1 offset=32`,
		`def-symbol frame=1 depth=0 function=1 file=3 line=1`, `def-symbol frame=2 depth=0 function=2 file=3 line=2`,
		`def-stack id=1 parent=0 frame=1`, `def-stack id=2 parent=1 frame=2`,
		`def-event id=1 category=0 name="flush" display=3 chart="" tooltip="" table=""`,
		`def-field event=1 position=0 name="size" label="" wire=0 format=3 privacy=0 flags=0`,
		`def-field event=1 position=1 name="file" label="" wire=3 format=9 privacy=1 flags=0`))
	var body []byte
	for i := range events {
		body = entry(body[:0], i)
		must(b, r.Put(body))
		r.Advance(1000)
		size += int64(len(body) + 1)
	}
	must(b, r.Close())
	return session, size
}

// entry is the body of the event with that number.
func entry(dst []byte, i int) []byte {
	if i%4 == 0 {
		dst = rawformat.AppendSint(append(dst, byte(rawformat.KindSample)), 1000)
		for _, v := range []uint64{uint64(1000 + i%7), 0, 0, uint64(2 + i%2), 1, 1 + uint64(i%5)*1000, 0} {
			dst = rawformat.AppendUint(dst, v)
		}
		return dst
	}
	dst = rawformat.AppendSint(append(dst, byte(rawformat.KindInstant), 1, 0), 1000)
	return rawformat.AppendArgs(dst, []rawformat.Arg{rawformat.Int(int64(i)), {Wire: rawformat.WireText, Text: []byte("/var/lib/data")}})
}

func must(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// perEvent reports the time for one of n events.
func perEvent(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/event")
}

// go test ./bench -bench Encode -count 10 | go tool benchstat -col /what -
func BenchmarkEncode(b *testing.B) {
	var bodies [4][]byte
	for i := range bodies {
		bodies[i] = entry(nil, i)
	}
	dst := make([]byte, 0, 1<<20)
	b.Run("what=entry", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			dst = rawformat.AppendBlock(dst[:0], entry(bodies[3][:0:len(bodies[3])], 3))
		}
	})
	b.Run("what=memcpy", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			dst = append(dst[:0], bodies[3]...)
		}
	})
}

// Reading all blocks of a ring, with its checksums, beside reading the same
// files into memory.
//
// go test ./bench -bench Reassemble -count 10 | go tool benchstat -col /what -
func BenchmarkReassemble(b *testing.B) {
	session, size := record(b)
	p := open(b, session)
	b.Run("what=blocks", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			n := 0
			for r := p.Blocks(nil); r.Next(); {
				n++
			}
			if n < events {
				b.Fatalf("%d blocks", n)
			}
		}
		perEvent(b, events)
	})
	b.Run("what=read", func(b *testing.B) {
		b.SetBytes(size)
		buf := make([]byte, rawformat.MaxChunkFile)
		for b.Loop() {
			for _, im := range p.Chunks {
				readFile(b, p.Location+"/"+im.Name, buf)
			}
		}
		perEvent(b, events)
	})
}

func readFile(b *testing.B, name string, buf []byte) {
	f, err := os.Open(name)
	must(b, err)
	defer f.Close()
	if _, err := io.ReadFull(f, buf); err != nil && err != io.ErrUnexpectedEOF {
		b.Fatal(err)
	}
}

func open(b *testing.B, session string) *ingest.Process {
	found, err := ingest.Find([]string{session}, ingest.Options{})
	must(b, err)
	return found.Processes[0]
}

// A session to Gecko JSON, whole, without compression, beside copying the
// output's bytes.
//
// go test ./bench -bench Gecko -count 10 | go tool benchstat -col /what -
func BenchmarkGecko(b *testing.B) {
	session, _ := record(b)
	format, options, err := convert.ByName("x.gecko.json")
	must(b, err)
	var out bytes.Buffer
	b.Run("what=convert", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			src, _, err := ingest.Open([]string{session}, ingest.Options{})
			must(b, err)
			out.Reset()
			sink, err := format.New(&out, options)
			must(b, err)
			must(b, stream.Copy(sink, src, stream.CopyOptions{}))
		}
		b.SetBytes(int64(out.Len()))
		perEvent(b, events)
	})
	b.Run("what=memcpy", func(b *testing.B) {
		dst := make([]byte, out.Len())
		b.SetBytes(int64(out.Len()))
		for b.Loop() {
			copy(dst, out.Bytes())
		}
		perEvent(b, events)
	})
}
