package bench

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gprof/fixtures/programs"
)

// perfSamples is how many samples the perf.data of BenchmarkPerf has.
var perfSamples = flag.Int("perf-samples", 100_000, "samples of the perf.data that BenchmarkPerf reads")

// A perf.data for Firefox Profiler, with names, beside samply (cargo install samply) if that is there: as it imports
// it, without names, and with them in a file beside it.
//
// go test ./bench -bench Perf -perf-samples 10000000 -count 5 | go tool benchstat -col /what -
func BenchmarkPerf(b *testing.B) {
	dir := b.TempDir()
	file, ours := filepath.Join(dir, "perf.data"), programs.Path(b, "cmd/gprof-convert")
	must(b, exec.Command("go", "run", "./makeperf", "-samples", fmt.Sprint(*perfSamples), "-o", file).Run())
	info, err := os.Stat(file)
	must(b, err)
	root, err := exec.Command("go", "env", "GOROOT").Output()
	must(b, err)
	command := filepath.Join(strings.TrimSpace(string(root)), "bin", "go")
	all := []program{{"gprof", []string{ours, file, "--symbols", command, "-f", "firefox", "-o", filepath.Join(dir, "named.json.gz")}}}
	if samply, err := exec.LookPath("samply"); err == nil {
		imports := []string{samply, "import", file, "--save-only", "-o", filepath.Join(dir, "samply.json.gz")}
		all = append(all, program{"samply", imports}, program{"samply-named", append(imports, "--unstable-presymbolicate")})
	}
	runAll(b, info.Size(), all)
}
