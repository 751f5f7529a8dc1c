package bench

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"gprof/fixtures"
	"gprof/fixtures/corpus"
	"gprof/ingest/pack"
	"gprof/rawformat"
)

// packSession packs a session, and reports its size without dictionaries by
// event.
func packSession(b *testing.B, session string, events int) []byte {
	b.Helper()
	processes, err := pack.Session(session)
	must(b, err)
	var out bytes.Buffer
	var sum pack.Summary
	for b.Loop() {
		out.Reset()
		sum, err = pack.Write(&out, processes, pack.Options{})
		must(b, err)
	}
	b.SetBytes(sum.Raw)
	b.ReportMetric(float64(sum.Raw-sum.RawDicts)/float64(events), "raw-B/event")
	b.ReportMetric(float64(sum.Size-sum.Dicts)/float64(events), "B/event")
	b.ReportMetric(float64(sum.Dicts), "dict-B")
	b.ReportMetric(float64(sum.RawDicts), "raw-dict-B")
	return out.Bytes()
}

// BenchmarkPack measures the size of a packed recording and the time to pack
// it, beside unpacking and just reading it.
//
// go test ./bench -bench Pack -count 10 | go tool benchstat -col /what -
func BenchmarkPack(b *testing.B) {
	for _, c := range []struct {
		name string
		make func(b *testing.B, session string) (events int)
	}{{"samples", corpusSamples}, {"sampler", samplerSamples}, {"markers", twoFieldMarkers}} {
		session := b.TempDir()
		events := c.make(b, session)
		var archive []byte
		b.Run("of="+c.name+"/what=pack", func(b *testing.B) { archive = packSession(b, session, events) })
		b.Run("of="+c.name+"/what=unpack", func(b *testing.B) { unpackAll(b, archive) })
		b.Run("of="+c.name+"/what=read", func(b *testing.B) { readAll(b, session) })
	}
}

// corpusSamples is the recording of package corpus.
func corpusSamples(b *testing.B, session string) int {
	c, err := corpus.Write(session, corpus.Options{Samples: 400_000})
	must(b, err)
	return c.Samples
}

// samplerSamples are samples as a sampler takes them: each of eight threads
// once a millisecond, a little late. Stacks that are seen often are seen very
// often; how much CPU time it was is not to be foreseen.
func samplerSamples(b *testing.B, session string) int {
	r := rand.New(rand.NewPCG(1, 2))
	rec, err := fixtures.New(session, fixtures.Options{ChunkFile: 256 << 10, Limit: 64 << 20})
	must(b, err)
	stacks := rand.NewZipf(r, 1.2, 40, 300_000)
	const n = 400_000
	var body []byte
	last := uint64(0)
	for i := range n {
		now := uint64(i)*125_000 + uint64(r.IntN(60_000))
		body = rawformat.AppendSint(append(body[:0], byte(rawformat.KindSample)), int64(now-last))
		for _, v := range []uint64{4000 + uint64(i%8), 0, uint64(i % 8), 2 + stacks.Uint64(), 1, 900_000 + uint64(r.IntN(200_000)), 0} {
			body = rawformat.AppendUint(body, v)
		}
		must(b, rec.Put(body))
		rec.Advance(now - last)
		last = now
	}
	must(b, rec.Close())
	return n
}

// twoFieldMarkers are markers of twenty events, with a size and a small number.
func twoFieldMarkers(b *testing.B, session string) int {
	r := rand.New(rand.NewPCG(1, 3))
	rec, err := fixtures.New(session, fixtures.Options{ChunkFile: 256 << 10, Limit: 64 << 20})
	must(b, err)
	const n = 400_000
	var body []byte
	for range n {
		gap := uint64(r.ExpFloat64() * 20_000)
		event := 1 + uint64(r.IntN(20)*r.IntN(20)/20)
		body = rawformat.AppendUint(append(body[:0], byte(rawformat.KindInstant)), event)
		body = rawformat.AppendSint(rawformat.AppendUint(body, 0), int64(gap))
		body = rawformat.AppendArgs(body, []rawformat.Arg{rawformat.Int(int64(r.ExpFloat64() * 30_000)), rawformat.Uint64(uint64(r.IntN(100)))})
		must(b, rec.Put(body))
		rec.Advance(gap)
	}
	must(b, rec.Close())
	return n
}

func unpackAll(b *testing.B, archive []byte) {
	var raw int64
	for b.Loop() {
		a, err := pack.Open(bytes.NewReader(archive), int64(len(archive)))
		must(b, err)
		raw = 0
		for _, i := range a.Instances() {
			raw += copyFiles(b, a, i)
		}
	}
	b.SetBytes(raw)
}

func copyFiles(b *testing.B, a *pack.Archive, instance uint64) (n int64) {
	p := a.Process(instance)
	entries, err := a.ReadDir(p.Dir)
	must(b, err)
	for _, e := range entries {
		f, err := a.Open(p.Dir + "/" + e.Name())
		must(b, err)
		m, err := io.Copy(io.Discard, f)
		must(b, err)
		n += m
	}
	return n
}

func readAll(b *testing.B, session string) {
	var n int64
	for b.Loop() {
		n = 0
		names, err := filepath.Glob(session + "/*/*")
		must(b, err)
		for _, name := range names {
			data, err := os.ReadFile(name)
			must(b, err)
			n += int64(len(data))
		}
	}
	b.SetBytes(n)
}
