package bench

import (
	"os"
	"path/filepath"
	"testing"

	"gprof/convert"
	"gprof/fixtures/corpus"
	"gprof/ingest"
	"gprof/stream"
)

// Profiles of Firefox Profiler are read, in both of its formats: a third of their bytes is samples and code, the rest the payloads of
// markers. The metric to look at is the CPU time. With -tags nosonic our own loop finds where values end, as it does where sonic's machine
// code doesn't run.
//
// go -C bench test -run '^$' -bench Firefox -benchtime 3x
func BenchmarkFirefox(b *testing.B) {
	dir := b.TempDir()
	session := filepath.Join(dir, "session")
	_, err := corpus.Write(session, corpus.Options{Processes: 3, Samples: 300_000, Markers: 1500, Writers: 8, Stacks: 20_000})
	must(b, err)
	for _, name := range []string{"firefox", "gecko"} {
		b.Run("format="+name, func(b *testing.B) {
			path := filepath.Join(dir, "profile."+name+".json")
			size := writeAs(b, session, path)
			b.SetBytes(size)
			began := cpuTime()
			for b.Loop() {
				src, _, err := ingest.Open([]string{path}, ingest.Options{})
				must(b, err)
				must(b, stream.Copy(stream.Discard, src, stream.CopyOptions{}))
			}
			b.ReportMetric(float64(cpuTime()-began)/float64(b.N)/float64(size), "cpu-ns/byte")
		})
	}
}

// writeAs converts a session to a file whose name tells the format, and returns its size.
func writeAs(b *testing.B, session, path string) int64 {
	b.Helper()
	format, options, err := convert.ByName(path)
	must(b, err)
	src, _, err := ingest.Open([]string{session}, ingest.Options{})
	must(b, err)
	out, err := os.Create(path)
	must(b, err)
	sink, err := format.New(out, options)
	must(b, err)
	must(b, stream.Copy(sink, src, stream.CopyOptions{}))
	info, err := out.Stat()
	must(b, err)
	must(b, out.Close())
	return info.Size()
}
