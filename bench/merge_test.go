package bench

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"gprof/convert"
	"gprof/fixtures/corpus"
	"gprof/ingest"
	"gprof/stream"
)

// processes is how many recordings are merged.
var processes = flag.Int("processes", 1000, "recordings that BenchmarkMerge merges, of 1,000 samples each")

// A thousand recordings of one program to one profile with whole tables, beside
// google/pprof merging the same samples from pprof files. Each runs in a process
// of its own, so that its memory can be told.
//
// go test ./bench -bench Merge -count 5 | go tool benchstat -col /what -
func BenchmarkMerge(b *testing.B) {
	session, pprof := b.TempDir(), b.TempDir()
	c, err := corpus.Write(session, corpus.Options{Processes: *processes, Samples: 1000 * *processes, Writers: 1, ChunkFile: 64 << 10, Pprof: pprof})
	must(b, err)
	b.Logf("%+v", *c)
	for _, what := range []struct{ name, dir string }{{"gprof", session}, {"pprof", pprof}} {
		b.Run("what="+what.name, func(b *testing.B) {
			for b.Loop() {
				child(b, what.name, what.dir)
			}
		})
	}
}

// A thousand pprof files of 1,000 samples each, compressed as they mostly are, to
// one, by us and by google/pprof's Merge: summed, as Merge does; and apart, so that
// each sample tells of which process it is, for which Merge gets profiles with a
// label on each sample. Once most stacks are in many files, as those of one service
// are, and once hardly any are. All take turns in one run, so that their ratios hold
// on a busy machine, too.
//
// go test ./bench -bench Profiles -benchtime 3x -timeout 1h
func BenchmarkProfiles(b *testing.B) {
	for _, c := range []struct {
		name   string
		stacks int
	}{{"same", 5000}, {"different", 1_000_000}} {
		b.Run("stacks="+c.name, func(b *testing.B) {
			dir := b.TempDir()
			must(b, corpus.WriteProfiles(dir, corpus.Profiles{Files: *processes, Samples: 1000, Stacks: c.stacks}))
			compareProfiles(b, dir)
		})
	}
}

func compareProfiles(b *testing.B, dir string) {
	for _, how := range []string{"summed", "apart"} {
		b.Run("samples="+how, func(b *testing.B) {
			var ours, theirs cost
			for b.Loop() {
				ours = ours.plus(measure(b, how, dir))
				theirs = theirs.plus(measure(b, how+"-by-library", dir))
			}
			b.ReportMetric(ours.cpu.Seconds()/float64(b.N), "cpu-s/op")
			b.ReportMetric(theirs.cpu.Seconds()/float64(b.N), "library-cpu-s/op")
			b.ReportMetric(float64(theirs.cpu)/float64(ours.cpu), "times-less-cpu")
			b.ReportMetric(float64(ours.peak)/(1<<20), "peak-MiB")
			b.ReportMetric(float64(theirs.peak)/(1<<20), "library-peak-MiB")
			b.ReportMetric(float64(theirs.peak)/float64(ours.peak), "times-less-memory")
		})
	}
}

// works are what a child process can do with a directory.
var works = map[string]func(dir string) error{
	"gprof": mergeRecordings, "pprof": mergeProfiles,
	"summed": mergeSummed, "summed-by-library": mergeByLibrary, "apart": mergeApart, "apart-by-library": mergeLabelled,
}

const childVariable = "GPROF_BENCH_CHILD"

// TestMain does the work of a child, if the process is one.
func TestMain(m *testing.M) {
	name, dir, ok := strings.Cut(os.Getenv(childVariable), ":")
	if !ok {
		os.Exit(m.Run())
	}
	if err := works[name](dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// child does a work in a process of its own, and reports what that took.
func child(b *testing.B, work, dir string) {
	c := measure(b, work, dir)
	b.ReportMetric(c.cpu.Seconds(), "cpu-s/op")
	b.ReportMetric(float64(c.peak)/(1<<20), "peak-MiB")
}

// cost is what a work took.
type cost struct {
	cpu  time.Duration
	peak int64 // bytes
}

func (c cost) plus(d cost) cost { return cost{c.cpu + d.cpu, max(c.peak, d.peak)} }

// measure does a work in a process of its own.
func measure(b *testing.B, work, dir string) cost {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+work+":"+dir)
	cmd.Stderr = os.Stderr
	must(b, cmd.Run())
	return cost{cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), peak(cmd.ProcessState)}
}

func mergeRecordings(dir string) error {
	src, found, err := ingest.Open([]string{dir}, ingest.Options{})
	if err != nil {
		return err
	}
	defer found.Close()
	return stream.Copy(stream.Discard, src, stream.CopyOptions{})
}

func mergeProfiles(dir string) error {
	_, err := mergedByLibrary(filepath.Join(dir, "*.pb"), nil)
	return err
}

func mergeSummed(dir string) error { return mergeFiles(dir, true) }

func mergeApart(dir string) error { return mergeFiles(dir, false) }

func mergeFiles(dir string, sum bool) error {
	src, found, err := ingest.Open([]string{dir}, ingest.Options{Sum: sum})
	if err != nil {
		return err
	}
	defer found.Close()
	format, options, err := convert.ByFormat("pprof")
	if err != nil {
		return err
	}
	options.Sum = sum
	sink, err := format.New(io.Discard, options)
	if err != nil {
		return err
	}
	return stream.Copy(sink, src, stream.CopyOptions{})
}

func mergeByLibrary(dir string) error {
	merged, err := mergedByLibrary(filepath.Join(dir, "*.pb.gz"), nil)
	if err != nil {
		return err
	}
	return merged.Write(io.Discard)
}

func mergeLabelled(dir string) error {
	label := func(p *profile.Profile, name string) { p.SetLabel("instance", []string{name}) }
	merged, err := mergedByLibrary(filepath.Join(dir, "*.pb.gz"), label)
	if err != nil {
		return err
	}
	return merged.Write(io.Discard)
}

// mergedByLibrary is what google/pprof makes of the profiles of a pattern, once each
// was edited.
func mergedByLibrary(pattern string, edit func(p *profile.Profile, name string)) (*profile.Profile, error) {
	names, err := filepath.Glob(pattern)
	if err != nil {
		return nil, err
	}
	var all []*profile.Profile
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		p, err := profile.ParseData(data)
		if err != nil {
			return nil, err
		}
		if edit != nil {
			edit(p, name)
		}
		all = append(all, p)
	}
	return profile.Merge(all)
}
