package ingest

import (
	"bytes"
	"os"
	"runtime/pprof"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/pprof/profile"
)

// A profile of this program, from which all names were taken, gets the same ones
// from the program's file: for each frame the function, file and line, and what
// was inlined there.
func TestSymbolsNameProfiles(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var data bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&data, 0); err != nil {
		t.Fatal(err)
	}
	p, err := profile.Parse(&data)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name string) string {
		var out bytes.Buffer
		if err := p.Write(&out); err != nil {
			t.Fatal(err)
		}
		return writeFile(t, dir, name, out.Bytes())
	}
	want := frameNames(t, write("whole.pb.gz"), Options{})
	p.Function = nil
	for _, l := range p.Location {
		l.Line = nil
	}
	stripped := write("stripped.pb.gz")
	if bare := frameNames(t, stripped, Options{}); named(bare) > 0 || named(want) < 8 {
		t.Fatalf("%d frames have names, %d after their removal", named(want), named(bare))
	}
	if diff := cmp.Diff(want, frameNames(t, stripped, Options{Symbols: []string{exe}})); diff != "" {
		t.Errorf("names of the profile (-) and those of the program (+):\n%s", diff)
	}
	// An address outside of the part that is mapped is no place in the file.
	for _, l := range p.Location {
		l.Address = p.Mapping[0].Limit + 1
	}
	if got := frameNames(t, write("outside.pb.gz"), Options{Symbols: []string{exe}}); named(got) > 0 {
		t.Errorf("names of what is not mapped: %v", got)
	}
}
