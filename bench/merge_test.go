package bench

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"gprof/convert"
	"gprof/dedupe"
	"gprof/fixtures/corpus"
	"gprof/ingest"
	"gprof/ingest/archive"
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
			var ours, theirs, unpacked cost
			for b.Loop() {
				unpacked = unpacked.plus(measure(b, "unpacked", dir))
				ours = ours.plus(measure(b, how, dir))
				theirs = theirs.plus(measure(b, how+"-by-library", dir))
			}
			b.ReportMetric(ours.cpu.Seconds()/float64(b.N), "cpu-s/op")
			b.ReportMetric(unpacked.cpu.Seconds()/float64(b.N), "unpacking-cpu-s/op") // a part of ours
			b.ReportMetric(theirs.cpu.Seconds()/float64(b.N), "library-cpu-s/op")
			b.ReportMetric(float64(theirs.cpu)/float64(ours.cpu), "times-less-cpu")
			b.ReportMetric(float64(ours.peak)/(1<<20), "peak-MiB")
			b.ReportMetric(float64(theirs.peak)/(1<<20), "library-peak-MiB")
			b.ReportMetric(float64(theirs.peak)/float64(ours.peak), "times-less-memory")
		})
	}
}

// The stacks of 1,000,000 samples, all that there is to find in profiles whose stacks all differ: 3,200,000 nodes of a
// tree that is in no cache, looked up one stack after the other, and 32 at a time. No sum takes less.
//
// go test ./bench -bench Stacks -benchtime 3x
func BenchmarkStacks(b *testing.B) {
	const samples, some = 1_000_000, 32
	known := corpus.NewStacks(0, 1_000_000)
	r := rand.New(rand.NewPCG(0, 0))
	var keys []int32 // of all stacks, the innermost first
	var ends []int
	for range samples {
		for node := known.Sampled()[r.IntN(len(known.Sampled()))]; node != 0; {
			var key int32
			node, key = known.At(node)
			keys = append(keys, key)
		}
		ends = append(ends, len(keys))
	}
	for _, at := range []int{1, some} {
		b.Run(fmt.Sprintf("together=%d", at), func(b *testing.B) {
			for b.Loop() {
				var tree dedupe.Tree[int32, int32]
				from := 0
				for all := range slices.Chunk(ends, at) {
					nodes, paths := make([]int32, len(all)), make([][]int32, len(all))
					for i, end := range all {
						paths[i], from = keys[from:end], end
					}
					if at > 1 {
						tree.FollowAll(nodes, paths)
					}
					for i, node := range nodes {
						for _, key := range slices.Backward(paths[i]) {
							node = tree.Intern(node, key)
						}
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/samples, "ns/stack")
		})
	}
}

// works are what a child process can do with a directory.
var works = map[string]func(dir string) error{
	"unpacked": unpackFiles,
	"gprof":    mergeRecordings, "pprof": mergeProfiles,
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

// unpackFiles only unpacks what others merge.
func unpackFiles(dir string) error {
	names, err := filepath.Glob(filepath.Join(dir, "*.pb.gz"))
	if err != nil {
		return err
	}
	var u archive.Unpacker
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		z, err := u.GunzipSmall(bytes.NewReader(data))
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, z)
		if err := errors.Join(err, z.Close()); err != nil {
			return err
		}
	}
	return nil
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
