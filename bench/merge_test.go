package bench

import (
	"bytes"
	"compress/gzip"
	"errors"
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

	"gprof/bench/corpus"
	"gprof/convert"
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

// A thousand pprof files, compressed as they mostly are, to one: by us, who keep
// apart of which process each sample is, and by google/pprof, which adds them up.
//
// go test ./bench -bench Profiles -count 5 | go tool benchstat -col /what -
func BenchmarkProfiles(b *testing.B) {
	session, dir := b.TempDir(), b.TempDir()
	_, err := corpus.Write(session, corpus.Options{Processes: *processes, Samples: 1000 * *processes, Stacks: 5000, Writers: 1, ChunkFile: 64 << 10, Pprof: dir})
	must(b, err)
	must(b, os.RemoveAll(session))
	must(b, compressAll(dir))
	for _, name := range []string{"files", "library"} {
		b.Run("what="+name, func(b *testing.B) {
			for b.Loop() {
				child(b, name, dir)
			}
		})
	}
}

// compressAll replaces the profiles in a directory by compressed ones.
func compressAll(dir string) error {
	names, err := filepath.Glob(filepath.Join(dir, "*.pb"))
	if err != nil {
		return err
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		w.Write(data)
		w.Close()
		if err := errors.Join(os.WriteFile(name+".gz", out.Bytes(), 0o600), os.Remove(name)); err != nil {
			return err
		}
	}
	return nil
}

// works are what a child process can do with a directory.
var works = map[string]func(dir string) error{"gprof": mergeRecordings, "pprof": mergeProfiles, "files": mergeFiles, "library": mergeByLibrary}

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
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+work+":"+dir)
	cmd.Stderr = os.Stderr
	must(b, cmd.Run())
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	b.ReportMetric(float64(cpu)/float64(time.Second), "cpu-s/op")
	b.ReportMetric(float64(peak(cmd.ProcessState))/(1<<20), "peak-MiB")
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
	_, err := mergedByLibrary(filepath.Join(dir, "*.pb"))
	return err
}

func mergeFiles(dir string) error {
	src, found, err := ingest.Open([]string{dir}, ingest.Options{})
	if err != nil {
		return err
	}
	defer found.Close()
	format, options, err := convert.ByFormat("pprof")
	if err != nil {
		return err
	}
	sink, err := format.New(io.Discard, options)
	if err != nil {
		return err
	}
	return stream.Copy(sink, src, stream.CopyOptions{})
}

func mergeByLibrary(dir string) error {
	merged, err := mergedByLibrary(filepath.Join(dir, "*.pb.gz"))
	if err != nil {
		return err
	}
	return merged.Write(io.Discard)
}

// mergedByLibrary is what google/pprof makes of the profiles of a pattern.
func mergedByLibrary(pattern string) (*profile.Profile, error) {
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
		all = append(all, p)
	}
	return profile.Merge(all)
}
