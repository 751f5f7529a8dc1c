package recorder

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"runtime/pprof"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/pprof/profile"
)

// reference is cpuProfile by way of the library that everybody uses.
func reference(t testing.TB, gzipped []byte) *cpuProfile {
	t.Helper()
	p, err := profile.ParseData(gzipped)
	if err != nil {
		t.Fatal(err)
	}
	out := &cpuProfile{}
	for _, s := range p.Sample {
		c := cpuSample{count: s.Value[0], cpu: s.Value[1]}
		if v := s.Label[trackLabel]; len(v) > 0 {
			c.track = v[0]
		}
		for _, l := range s.Location {
			at := location{pc: l.Address}
			for _, line := range slices.Backward(l.Line) {
				at.chain = append(at.chain, symbol{line.Function.Name, line.Function.Filename, line.Line, line.Function.StartLine})
			}
			c.stack = append(c.stack, at)
		}
		out.samples = append(out.samples, c)
	}
	return out
}

// recordProfile takes a CPU profile of some work on a track.
func recordProfile(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := pprof.StartCPUProfile(&b); err != nil {
		t.Fatal(err)
	}
	_, work := NewTrack(context.Background(), "profiled")
	sum := [32]byte{}
	for range 2_000_000 { // work, not time: a busy machine gives none of it
		sum = sha256.Sum256(sum[:])
	}
	work.End()
	pprof.StopCPUProfile()
	return b.Bytes()
}

func TestReadProfile(t *testing.T) {
	gzipped := recordProfile(t)
	got, err := readProfile(gzipped)
	if err != nil {
		t.Fatal(err)
	}
	want := reference(t, gzipped)
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(cpuProfile{}, cpuSample{}, location{}, symbol{})); diff != "" || len(got.samples) == 0 {
		t.Errorf("%d samples; (-want +got):\n%s", len(got.samples), diff)
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
		if _, err := readProfile(tt.data); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
}

func FuzzReadProfile(f *testing.F) {
	for _, seed := range [][]byte{nil, {0x12, 4, 0x10, 1, 0x10, 2}, {0x22, 6, 8, 1, 0x18, 5, 0x22, 0}} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := parseProfile(b)
		if err != nil {
			if !errors.Is(err, errProfile) {
				t.Fatalf("error of another class: %v", err)
			}
			return
		}
		for _, s := range p.samples {
			if len(s.stack) > maxProfileDepth {
				t.Fatalf("stack of %d pcs", len(s.stack))
			}
		}
	})
}
