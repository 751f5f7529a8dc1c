package streamtest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"gprof/stream"
)

// OpenFile opens a file of some format to test its source. An error without a source says
// that there is nothing to read; with one, that it gives what is intact.
type OpenFile func(data []byte) (stream.Source, error)

// TestFile is a conformance suite for sources that read a file; data is a whole file. In
// addition to [TestSource] it checks that
//
//   - a file that is cut short, at many places, gives no more than the whole one, and this is reported: by an error with an offset, or a line of the ledger;
//   - a file in which some byte has changed, or some bytes are missing, gives an error or a valid stream, and takes no more memory than it may;
//   - a source that is closed early ends, and leaves no goroutine behind.
//
// It counts what the whole process allocates, and its goroutines: no test may run beside it.
func TestFile(t *testing.T, data []byte, open OpenFile) {
	whole := func(t *testing.T) stream.Source {
		src, err := open(data)
		if err != nil {
			t.Fatal("open:", err)
		}
		return src
	}
	TestSource(t, whole)
	t.Run("cut", func(t *testing.T) { testCuts(t, data, open) })
	t.Run("damaged", func(t *testing.T) { testDamage(t, data, open) })
	t.Run("closed", func(t *testing.T) { testClosed(t, whole) })
}

// maxPlaces is the number of places at which a file is cut or damaged.
const maxPlaces = 400

// places are offsets in a file of size bytes, more of them at the front, where the
// headers are.
func places(size int) (all []int) {
	step := max(1, size/(maxPlaces/2))
	for i := 0; i < size; i++ {
		if i < maxPlaces/2 || i%step == 0 {
			all = append(all, i)
		}
	}
	return all
}

// sums is how much there is in a stream.
type sums struct {
	rows, weight [stream.Pages + 1]int64
	told         bool // the ledger or an error says that something is missing
}

// offset matches the place in an error.
var offset = regexp.MustCompile(`\d`)

// ErrSilent says that a file is not whole, and that this is not reported.
var ErrSilent = errors.New("neither an error with an offset nor the ledger tells of it")

// readFile reads all that a file gives.
func readFile(data []byte, open OpenFile) (s sums, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = invalid("panic: %v\n%s", p, debug.Stack())
		}
	}()
	src, err := open(data)
	s.told = err != nil && offset.MatchString(err.Error())
	if src == nil && err == nil {
		return s, invalid("neither a source nor an error")
	} else if src == nil {
		return s, nil
	}
	var count stream.Count
	if err := stream.Copy(Validate(&count), src, stream.CopyOptions{}); errors.Is(err, ErrInvalid) || errors.Is(err, stream.ErrBatch) || errors.Is(err, stream.ErrUndefined) {
		return s, err
	} else if err != nil {
		return sums{told: offset.MatchString(err.Error())}, nil
	}
	for _, line := range count.Tables.Ledger.Lines() {
		s.told = s.told || line.Reason.Severity() > stream.Info
	}
	for _, series := range count.Series {
		s.rows[series.Kind] += series.Rows
		s.weight[series.Kind] += series.Samples
	}
	return s, nil
}

// above returns an error if s has more of anything than of has.
func (s *sums) above(of *sums) error {
	for kind := range s.rows {
		if s.rows[kind] > of.rows[kind] || s.weight[kind] > of.weight[kind] {
			return invalid("%d %v of weight %d, the whole file has %d of %d",
				s.rows[kind], stream.Kind(kind), s.weight[kind], of.rows[kind], of.weight[kind])
		}
	}
	return nil
}

func testCuts(t *testing.T, data []byte, open OpenFile) {
	whole, err := readFile(data, open)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range places(len(data)) {
		part, err := readFile(bytes.Clone(data[:size]), open)
		if err == nil {
			err = part.above(&whole)
		}
		if err == nil && part.rows != whole.rows && !part.told {
			err = ErrSilent
		}
		if err != nil {
			t.Fatalf("cut after %d of %d bytes: %v", size, len(data), err)
		}
	}
}

// maxAllocated is how much may be allocated in all for a damaged file, besides
// maxEach for each of its bytes.
const (
	maxAllocated = 64 << 20
	maxEach      = 1 << 10
)

func testDamage(t *testing.T, data []byte, open OpenFile) {
	for i, at := range places(len(data)) {
		damaged := bytes.Clone(data)
		what := ""
		switch i % 4 {
		case 0:
			damaged[at] ^= 1 << (i / 4 % 8)
			what = "a bit is another"
		case 1:
			damaged[at] = 0xff
			what = "a byte is 0xff"
		case 2:
			damaged = append(damaged[:at], damaged[min(len(damaged), at+1+i%16):]...)
			what = "bytes are missing"
		default:
			damaged = append(damaged[:at], append(bytes.Repeat([]byte{0xff}, 9), data[at:]...)...)
			what = "bytes 0xff are inserted"
		}
		if err := readDamaged(damaged, open); err != nil {
			t.Fatalf("%s at %d of %d: %v", what, at, len(data), err)
		}
	}
}

func readDamaged(damaged []byte, open OpenFile) error {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := readFile(damaged, open)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; err == nil && n > maxAllocated+maxEach*uint64(len(damaged)) {
		return invalid("%d bytes were allocated for a file of %d", n, len(damaged))
	}
	return err
}

// testClosed closes sources that are closers, before and after they gave a batch.
func testClosed(t *testing.T, open func(t *testing.T) stream.Source) {
	before := runtime.NumGoroutine()
	for batches := range 3 {
		src := open(t)
		closer, ok := src.(io.Closer)
		if !ok {
			return
		}
		var b stream.Batch
		for range batches {
			if err := src.Next(&b); err != nil && !errors.Is(err, io.EOF) {
				t.Fatal("next:", err)
			}
		}
		if err := closer.Close(); err != nil {
			t.Error("close:", err)
		}
		if err := src.Next(&b); err == nil {
			t.Error("a source that is closed gives rows")
		}
	}
	if err := settle(before); err != nil {
		t.Error(err)
	}
}

// settle waits until there are no more goroutines than before.
func settle(before int) error {
	for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(end) {
			return fmt.Errorf("%d goroutines are left of a source that is closed", runtime.NumGoroutine()-before)
		}
	}
	return nil
}
