package bench

import (
	"encoding/binary"
	"errors"
	"io"
	"testing"
	"time"

	"gprof/decode"
	"gprof/fixtures"
	"gprof/fixtures/corpus"
	"gprof/ingest"
	"gprof/rawformat"
	"gprof/stream"
)

// Entries to events, from files to batches, checksums verified, and on through
// Copy, which sorts them; beside loading the same integers eight bytes at a time
// and dropping them.
//
// go test ./bench -bench Decode -count 10 | go tool benchstat -col /what -
func BenchmarkDecode(b *testing.B) {
	for _, c := range []struct {
		name string
		make func(b *testing.B) (session string, events int)
	}{{"samples", samples}, {"markers", markers}} {
		session, n := c.make(b)
		found, err := ingest.Find([]string{session}, ingest.Options{})
		must(b, err)
		b.Run("corpus="+c.name+"/what=events", func(b *testing.B) {
			cpu := cpuTime()
			for b.Loop() {
				drain(b, found, n)
			}
			perEventCPU(b, cpu, n)
		})
		b.Run("corpus="+c.name+"/what=copied", func(b *testing.B) {
			cpu := cpuTime()
			for b.Loop() {
				must(b, stream.Copy(stream.Discard, sourceOf(found), stream.CopyOptions{SpillDir: b.TempDir()}))
			}
			perEventCPU(b, cpu, n)
		})
		b.Run("corpus="+c.name+"/what=loads", func(b *testing.B) {
			payload := payloadOf(found)
			cpu := cpuTime()
			for b.Loop() {
				loadAll(b, payload)
			}
			perEventCPU(b, cpu, n)
		})
	}
}

// samples is a recording of samples, 40 frames deep, by 32 threads.
func samples(b *testing.B) (session string, n int) {
	session = b.TempDir()
	_, err := corpus.Write(session, corpus.Options{Samples: 3_000_000, Stacks: 40_000})
	must(b, err)
	return session, 3_000_000
}

// markers is a recording of markers with two numbers.
func markers(b *testing.B) (session string, n int) {
	session = b.TempDir()
	r, err := fixtures.New(session, fixtures.Options{ChunkFile: 256 << 10, Limit: 64 << 20})
	must(b, err)
	must(b, r.Define(
		`def-event id=1 category=0 name="flush" display=3 chart="" tooltip="" table=""`,
		`def-field event=1 position=0 name="size" label="" wire=0 format=3 privacy=0 flags=0`,
		`def-field event=1 position=1 name="pages" label="" wire=1 format=0 privacy=0 flags=0`))
	var body []byte
	for i := range 1_000_000 {
		body = rawformat.AppendSint(append(body[:0], byte(rawformat.KindInstant), 1, 0), 1000)
		must(b, r.Put(rawformat.AppendArgs(body, []rawformat.Arg{rawformat.Int(int64(i)), rawformat.Uint64(uint64(i % 100))})))
		r.Advance(1000)
	}
	must(b, r.Close())
	return session, 1_000_000
}

// sourceOf gives the events of all that was found.
func sourceOf(found *ingest.Found) stream.Source {
	tables := new(stream.Tables)
	var inputs []decode.Input
	for i, p := range found.Processes {
		clock, _ := decode.ClockOf(p.Process)
		tables.Processes = append(tables.Processes, decode.Describe(p.Process, clock))
		inputs = append(inputs, decode.Input{Found: p.Process, ID: stream.ProcessID(i + 1), Clock: clock})
	}
	return decode.New(tables, inputs, decode.Options{})
}

// drain decodes all that was found and drops the events.
func drain(b *testing.B, found *ingest.Found, want int) {
	src := sourceOf(found)
	var batch stream.Batch
	rows := 0
	for {
		err := src.Next(&batch)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			b.Fatal(err)
		}
		rows += batch.Len()
	}
	if rows != want {
		b.Fatalf("%d events, want %d", rows, want)
	}
}

// payloadOf is all committed bytes. Blocks without texts are nothing but
// integers of one to eight bytes.
func payloadOf(found *ingest.Found) (all []byte) {
	for _, p := range found.Processes {
		for r := p.Blocks(nil); r.NextRun(); {
			all = append(all, r.Run().Data...)
		}
	}
	return append(all, make([]byte, 8)...)
}

// loadAll reads all integers by eight-byte loads alone.
func loadAll(b *testing.B, payload []byte) {
	var sum uint64
	for at := 0; at+8 < len(payload); {
		v, n := rawformat.WordUint(binary.LittleEndian.Uint64(payload[at:]))
		if n == 0 {
			b.Fatal("not an integer of one to eight bytes")
		}
		sum += v
		at += n
	}
	if sum == 0 {
		b.Fatal("nothing was read")
	}
}

// perEventCPU reports the CPU time since then for one of n events.
func perEventCPU(b *testing.B, since time.Duration, n int) {
	b.ReportMetric(float64(cpuTime()-since)/float64(b.N)/float64(n), "cpu-ns/event")
}
