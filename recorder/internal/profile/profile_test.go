package profile

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"runtime/pprof"
	"strings"
	"testing"
)

const trackLabel = "gprof.track"

// recordProfile takes a CPU profile of some work on a track.
func recordProfile(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := pprof.StartCPUProfile(&b); err != nil {
		t.Fatal(err)
	}
	pprof.Do(context.Background(), pprof.Labels(trackLabel, "profiled"), func(context.Context) {
		sum := [32]byte{}
		for range 2_000_000 { // an amount of work, because a busy machine may give the test no CPU time
			sum = sha256.Sum256(sum[:])
		}
	})
	pprof.StopCPUProfile()
	return b.Bytes()
}

// text is a profile as testdata/cpu.txt has it.
func text(samples []Sample) string {
	var b strings.Builder
	for _, s := range samples {
		fmt.Fprintf(&b, "%d samples, %d ns, track %q\n", s.Count, s.CPU, s.Track)
		for _, l := range s.Stack {
			fmt.Fprintf(&b, "\t%#x\n", l.PC)
			for _, f := range l.Functions {
				fmt.Fprintf(&b, "\t\t%s %s:%d, begins at %d\n", f.Name, f.File, f.Line, f.Start)
			}
		}
	}
	return b.String()
}

// recursion is generic, and isn't inlined.
func recursion[T int | int64](n T) T {
	if n < 2 {
		return n
	}
	return recursion(n-1) + recursion(n-2)
}

// A function has the name that its frames have elsewhere, also if it is generic.
func TestWithoutTypes(t *testing.T) {
	for name, want := range map[string]string{"main.f": "main.f", "a.(*T[go.shape.[]b.P]).Put.func1": "a.(*T[...]).Put.func1", "a]b[": "a]b[", "f[": "f["} {
		if got := withoutTypes(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	var b bytes.Buffer
	for range 100 { // a busy machine may give no CPU time
		b.Reset()
		if err := pprof.StartCPUProfile(&b); err != nil {
			t.Fatal(err)
		}
		recursion(int64(35))
		pprof.StopCPUProfile()
		if samples, err := Read(b.Bytes(), trackLabel); err != nil {
			t.Fatal(err)
		} else if strings.Contains(text(samples), "profile.recursion[...] ") {
			return
		}
	}
	t.Errorf("no sample of %s", "profile.recursion[...]")
}

// A stored profile yields the samples that github.com/google/pprof reads from it: a test of package fixtures compares the text
// with those.
func TestReadProfile(t *testing.T) {
	gzipped, err := os.ReadFile("testdata/cpu.pb.gz")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/cpu.txt")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Read(gzipped, trackLabel); err != nil || text(got) != string(want) {
		t.Errorf("%v\n%s\nwant\n%s", err, text(got), want)
	}
}

// The profile that this release of Go writes can be read, too.
func TestReadFreshProfile(t *testing.T) {
	got, err := Read(recordProfile(t), trackLabel)
	if err != nil {
		t.Fatal(err)
	}
	if text := text(got); !strings.Contains(text, "recordProfile") || !strings.Contains(text, "profile_test.go:") {
		t.Errorf("%d samples, none of recordProfile:\n%s", len(got), text)
	}
}

func compress(b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Write(b)
	w.Close()
	return out.Bytes()
}

func TestReadProfileErrors(t *testing.T) {
	for _, tt := range []struct {
		name string
		data []byte
		want error
	}{
		{"not gzipped", []byte("hello, world"), gzip.ErrHeader},
		{"wire type", compress([]byte{0x0b}), errProfile},
		{"field cut short", compress([]byte{0x12, 5, 1}), errProfile},
		{"number cut short", compress([]byte{0x48, 0x80}), errProfile},
		{"sample of one value", compress([]byte{0x12, 2, 0x10, 1}), errProfile},
		{"packed number cut short", compress([]byte{0x12, 3, 0x0a, 1, 0x80}), errProfile},
	} {
		if _, err := Read(tt.data, trackLabel); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
}

func FuzzReadProfile(f *testing.F) {
	for _, seed := range [][]byte{nil, {0x12, 4, 0x10, 1, 0x10, 2}, {0x22, 6, 8, 1, 0x18, 5, 0x22, 0}} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		samples, err := parse(b, trackLabel)
		if err != nil {
			if !errors.Is(err, errProfile) {
				t.Fatalf("error of another class: %v", err)
			}
			return
		}
		for _, s := range samples {
			if len(s.Stack) > maxDepth {
				t.Fatalf("stack of %d pcs", len(s.Stack))
			}
		}
	})
}
