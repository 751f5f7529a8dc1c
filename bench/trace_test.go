package bench

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"gprof/fixtures/programs"
)

// traceMB is how large a trace BenchmarkTrace reads. go tool trace takes a hundred
// times that in memory.
var traceMB = flag.Int("trace-mb", 5, "MiB of the execution trace that BenchmarkTrace reads")

// An execution trace to all tables, to pprof and for Firefox Profiler, beside go
// tool trace making a profile of the time that goroutines were runnable, which is a
// small part of it.
//
// go test ./bench -bench Trace -count 5 | go tool benchstat -col /what -
//
// With -trace-mb 2048 go tool trace needs a machine of more than 200 GB:
// -bench Trace/what=gprof leaves it out.
func BenchmarkTrace(b *testing.B) {
	dir := b.TempDir()
	file, ours := filepath.Join(dir, "trace.out"), programs.Path(b, "cmd/gprof-convert")
	must(b, exec.Command("go", "run", "./maketrace", "-mb", fmt.Sprint(*traceMB), "-o", file).Run())
	info, err := os.Stat(file)
	must(b, err)
	runAll(b, info.Size(), []program{
		{"gprof-tables", []string{ours, file, "-o", "parquet=" + filepath.Join(dir, "tables")}},
		{"gprof-pprof", []string{ours, file, "-o", filepath.Join(dir, "trace.pb.gz")}},
		{"gprof-firefox", []string{ours, file, "-f", "firefox", "-o", filepath.Join(dir, "trace.json.gz")}},
		{"go-tool-trace", []string{"go", "tool", "trace", "-pprof=sched", file}},
	})
}

// program is one that reads a file.
type program struct {
	name    string
	command []string
}

// runAll measures what programs take for a file of that size.
func runAll(b *testing.B, size int64, programs []program) {
	for _, p := range programs {
		b.Run("what="+p.name, func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				cmd := exec.Command(p.command[0], p.command[1:]...)
				cmd.Stdout = io.Discard
				must(b, cmd.Run())
				cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
				b.ReportMetric(cpu.Seconds(), "cpu-s")
				b.ReportMetric(float64(cpu)/float64(size), "cpu-ns/byte")
				b.ReportMetric(float64(peak(cmd.ProcessState))/(1<<20), "peak-MiB")
			}
		})
	}
}
