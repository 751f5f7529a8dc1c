package decode_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gprof/chunks"
	"gprof/decode"
	"gprof/fixtures/corpus"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// crowd is a recording with all that workers might stumble over: one process
// with nine tenths of the bytes, eight writers, three generations, goroutines
// that move between writers, and same-samples.
func crowd(t testing.TB) (dir string) {
	dir = t.TempDir()
	_, err := corpus.Write(dir, corpus.Options{Processes: 4, Samples: 25_000, Markers: 200, Counts: 125,
		Stacks: 3000, Writers: 8, Generations: 3, Largest: 0.9, ChunkFile: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// openAll opens the processes of a session, in the order of their names.
func openAll(t testing.TB, fsys fs.FS) (*stream.Tables, []decode.Input) {
	t.Helper()
	tables := new(stream.Tables)
	var inputs []decode.Input
	entries, _ := fs.ReadDir(fsys, ".")
	for i, e := range entries {
		p, err := chunks.OpenProcess(fsys, e.Name())
		if err != nil {
			t.Fatal(err)
		}
		clock, _ := decode.ClockOf(p)
		tables.Processes = append(tables.Processes, decode.Describe(p, clock))
		inputs = append(inputs, decode.Input{Found: p, ID: stream.ProcessID(i + 1), Clock: clock})
	}
	return tables, inputs
}

// oneByOne is a ceiling under which the processes of a crowd are held one at a
// time.
const oneByOne = 6 << 20

// The output is the same for any number of jobs and any ceiling.
func TestJobs(t *testing.T) {
	testJobs(t, crowd(t), way{jobs: 1}, way{jobs: 2}, way{jobs: 3, memory: oneByOne}, way{jobs: 8}, way{jobs: 1, next: true}, way{jobs: 2, next: true})
}

// way is how a test decodes.
type way struct {
	jobs   int
	memory int64
	next   bool // rows are taken by Next, not by Spread
}

// So it is of hundreds of tracks, whose samples are gathered before they become batches, unless workers are so many that
// each has only a few.
func TestJobsOfManyTracks(t *testing.T) {
	dir := t.TempDir()
	if _, err := corpus.Write(dir, corpus.Options{Processes: 2, Samples: 25_000, Markers: 50, Stacks: 1000, Threads: 250, Largest: 0.9}); err != nil {
		t.Fatal(err)
	}
	testJobs(t, dir, way{jobs: 1}, way{jobs: 2}, way{jobs: 8}, way{jobs: 1, next: true}, way{jobs: 2, next: true})
}

func testJobs(t *testing.T, dir string, ways ...way) {
	var want []byte
	for _, c := range ways {
		jobs := c.jobs
		tables, inputs := openAll(t, os.DirFS(dir))
		src := decode.New(tables, inputs, decode.Options{Jobs: jobs})
		var from stream.Source = src
		if c.next {
			from = struct{ stream.Source }{src}
		}
		var text bytes.Buffer
		if err := stream.Copy(streamtest.Validate(streamtest.NewText(&text)), from, stream.CopyOptions{Memory: c.memory, SpillDir: t.TempDir()}); err != nil {
			t.Fatal(err)
		}
		if done, total := src.Progress(); done != total || total < 400<<10 {
			t.Errorf("%d jobs: progress %d of %d", jobs, done, total)
		}
		if want == nil {
			want = text.Bytes()
		} else if !bytes.Equal(text.Bytes(), want) {
			t.Errorf("%d jobs give another output than one", jobs)
		}
	}
	if strings.Contains(string(want), "ledger") {
		t.Error("something was lost")
	}
}

// A source that is closed early leaves no goroutine behind.
func TestCloseEarly(t *testing.T) {
	before := runtime.NumGoroutine()
	dir := crowd(t)
	for batches := range 5 {
		tables, inputs := openAll(t, os.DirFS(dir))
		src := decode.New(tables, inputs, decode.Options{Jobs: 3})
		var b stream.Batch
		for range batches {
			if err := src.Next(&b); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			if err := src.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if err := src.Next(&b); !errors.Is(err, io.EOF) {
			t.Errorf("Next after Close: %v", err)
		}
	}
	gone(t, before)
}

// A taker that fails ends reading with its error, and leaves no goroutine behind.
func TestSpreadFails(t *testing.T) {
	before := runtime.NumGoroutine()
	dir := crowd(t)
	for good := range int64(5) {
		tables, inputs := openAll(t, os.DirFS(dir))
		var taken atomic.Int64
		err := decode.New(tables, inputs, decode.Options{Jobs: 3}).Spread(func() stream.Taker { return failing{&taken, good} })
		if err != errDisk || taken.Load() > good+3 {
			t.Errorf("after %d batches: %v, and %d were given", good, err, taken.Load())
		}
		gone(t, before)
	}
}

// failing takes so many batches.
type failing struct {
	taken *atomic.Int64
	good  int64
}

func (f failing) Take(*stream.Batch) error {
	if f.taken.Add(1) > f.good {
		return errDisk
	}
	return nil
}

func (f failing) TakeMixture(m stream.Mixture) error {
	return stream.Unmix(m, new(stream.Batch), f.Take)
}

// gone waits until there are no more goroutines than before.
func gone(t *testing.T, before int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}

var errDisk = errors.New("disk error")

// breaking is a file system in which some files cannot be read past their
// header.
type breaking struct {
	fs.FS
	broken []string
}

func (b breaking) Open(name string) (fs.File, error) {
	f, err := b.FS.Open(name)
	if err != nil || !slices.Contains(b.broken, name) {
		return f, err
	}
	return breakingFile{f, name}, nil
}

type breakingFile struct {
	fs.File
	name string
}

func (f breakingFile) ReadAt(b []byte, off int64) (int, error) {
	if off > 0 {
		return 0, &fs.PathError{Op: "read", Path: f.name, Err: errDisk}
	}
	return f.File.(io.ReaderAt).ReadAt(b, off)
}

// A read error ends decoding. Of several, the one of the first chunk in order
// is returned, whichever worker met it first, and no goroutine is left.
func TestReadError(t *testing.T) {
	before := runtime.NumGoroutine()
	dir := crowd(t)
	names, _ := filepath.Glob(filepath.Join(dir, "*", "chunk-00001"))
	for i := range names {
		names[i], _ = filepath.Rel(dir, names[i])
	}
	var want string
	for _, jobs := range []int{1, 2, 4} {
		tables, inputs := openAll(t, breaking{os.DirFS(dir), names})
		err := stream.Copy(stream.Discard, decode.New(tables, inputs, decode.Options{Jobs: jobs}), stream.CopyOptions{Memory: oneByOne, SpillDir: t.TempDir()})
		if !errors.Is(err, errDisk) {
			t.Fatalf("%d jobs: %v", jobs, err)
		}
		if want == "" {
			want = err.Error()
		}
		if err.Error() != want {
			t.Errorf("%d jobs: %v, want %v", jobs, err, want)
		}
	}
	gone(t, before)
}

// A caller may go on: then an error of reading costs the chunks that it
// concerns, and the ledger names them.
func TestReadErrorGoesOn(t *testing.T) {
	dir := crowd(t)
	names, _ := filepath.Glob(filepath.Join(dir, "*", "chunk-00001"))
	for i := range names {
		names[i], _ = filepath.Rel(dir, names[i])
	}
	for _, jobs := range []int{1, 4} {
		tables, inputs := openAll(t, breaking{os.DirFS(dir), names})
		var count stream.Count
		if err := stream.Copy(&count, decode.New(tables, inputs, decode.Options{Jobs: jobs, GoOn: true}), stream.CopyOptions{}); err != nil {
			t.Fatalf("%d jobs: %v", jobs, err)
		}
		told := 0
		for _, l := range count.Tables.Ledger.Lines() {
			if l.Reason == stream.ReasonUnreadable && strings.Contains(l.Where, errDisk.Error()) {
				told++
			}
		}
		if rows := count.Sum(func(stream.Series) bool { return true }).Rows; rows == 0 || told != len(names) {
			t.Errorf("%d jobs: %d rows; the ledger tells of %d files, want %d", jobs, rows, told, len(names))
		}
	}
}
