package pipeline

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"
)

// file writes a file of n pieces of many sizes, most of them made elsewhere.
func file(t *testing.T, w io.Writer, o Options, n int) error {
	t.Helper()
	out, err := New(w, o)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		lines := r.IntN(2000)
		piece := func(dst []byte) []byte {
			for k := range lines {
				dst = fmt.Appendf(dst, "[%d,%d]\n", i, k*k)
			}
			return dst
		}
		switch i % 4 {
		case 0:
			out.Write(piece(nil))
		case 1:
			out.Go(Numbers, piece)
		case 2:
			out.Go(Text, piece)
		case 3:
			out.GoAfter(Text, piece)
		}
	}
	return out.Close()
}

func TestSameBytes(t *testing.T) {
	for _, zip := range []bool{false, true} {
		var one bytes.Buffer
		if err := file(t, &one, Options{Gzip: zip}, 120); err != nil {
			t.Fatal(err)
		}
		for _, jobs := range []int{2, 3, 8, 100} {
			var many bytes.Buffer
			if err := file(t, &many, Options{Gzip: zip, Jobs: jobs}, 120); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(one.Bytes(), many.Bytes()) {
				t.Errorf("gzip %v: %d jobs write %d bytes, one writes %d others", zip, jobs, many.Len(), one.Len())
			}
		}
	}
}

// Writers that share cores and compress in other ways, one of which fails, write what they would alone, and give all cores back.
func TestCores(t *testing.T) {
	cores := NewCores(2)
	options := []Options{{Gzip: true}, {Gzip: true, Level: 6}, {Gzip: true, Level: 1}, {}}
	got := make([]bytes.Buffer, len(options))
	var all sync.WaitGroup
	for i, o := range options {
		all.Go(func() {
			o.Jobs, o.Cores = 1+i%2, cores
			if err := file(t, &got[i], o, 40); err != nil {
				t.Error(err)
			}
		})
	}
	all.Go(func() {
		if err := file(t, &failingWriter{t, 1}, Options{Jobs: 2, Gzip: true, Cores: cores}, 40); !errors.Is(err, errFull) {
			t.Error(err)
		}
	})
	all.Wait()
	for i, o := range options {
		var want bytes.Buffer
		if err := file(t, &want, o, 40); err != nil || !bytes.Equal(got[i].Bytes(), want.Bytes()) {
			t.Errorf("%+v: %d bytes, want %d others (%v)", o, got[i].Len(), want.Len(), err)
		}
	}
	if len(cores) != cap(cores) {
		t.Errorf("%d cores are left of %d", len(cores), cap(cores))
	}
}

// A piece that waits for the one before it is made later, and leaves its core to those behind it.
func TestGoAfter(t *testing.T) {
	var got bytes.Buffer
	out, err := New(&got, Options{Jobs: 2})
	if err != nil {
		t.Fatal(err)
	}
	behind, made := make(chan bool), false
	out.Go(Numbers, func(dst []byte) []byte {
		<-behind
		made = true
		return append(dst, "first "...)
	})
	out.GoAfter(Text, func(dst []byte) []byte { return fmt.Append(dst, made, " ") })
	out.Go(Text, func(dst []byte) []byte {
		close(behind)
		return append(dst, "third"...)
	})
	if err := out.Close(); err != nil || got.String() != "first true third" {
		t.Errorf("%q, %v", got.String(), err)
	}
}

func TestGzip(t *testing.T) {
	for _, n := range []int{0, 1, 60} {
		var plain, packed bytes.Buffer
		if err := errors.Join(file(t, &plain, Options{}, n), file(t, &packed, Options{Gzip: true, Jobs: 2}, n)); err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(&packed)
		if err != nil {
			t.Fatal(err)
		}
		z.Multistream(false)
		if got, err := io.ReadAll(z); err != nil || !bytes.Equal(got, plain.Bytes()) {
			t.Errorf("%d pieces: unpacked %d bytes, want %d (%v)", n, len(got), plain.Len(), err)
		}
	}
}

// failingWriter fails from the calls-th write on, and must not be written to after.
type failingWriter struct {
	t     *testing.T
	calls int
}

var errFull = errors.New("full")

func (f *failingWriter) Write(p []byte) (int, error) {
	f.calls--
	if f.calls < -1 {
		f.t.Error("written to after an error")
	}
	if f.calls < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestError(t *testing.T) {
	for _, jobs := range []int{1, 2} {
		for _, calls := range []int{0, 1, 10} {
			if err := file(t, &failingWriter{t, calls}, Options{Jobs: jobs, Gzip: true}, 100); !errors.Is(err, errFull) {
				t.Errorf("%d jobs, a writer that fails in write %d: %v", jobs, calls, err)
			}
		}
	}
	out, err := New(&failingWriter{t, 0}, Options{Gzip: true}) // the header fails
	if err != nil {
		t.Fatal(err)
	}
	_, err = out.Write([]byte("text"))
	for call, err := range map[string]error{"Write": err, "Wait": out.Wait(), "Close": out.Close()} {
		if !errors.Is(err, errFull) {
			t.Errorf("after the error %s returns %v", call, err)
		}
	}
	if _, err := New(io.Discard, Options{Level: 10}); err == nil {
		t.Error("level 10 is taken")
	}
}

// A Writer that nobody closes leaves no goroutine.
func TestAbandoned(t *testing.T) {
	before := runtime.NumGoroutine()
	out, err := New(io.Discard, Options{Jobs: 4})
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		out.Go(Text, func(dst []byte) []byte { return append(dst, "text"...) })
	}
	for end := time.Now().Add(time.Minute); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}
