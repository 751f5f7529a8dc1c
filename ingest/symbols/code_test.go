package symbols

import (
	"debug/elf"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gprof/rawformat/buildid"
)

// A Go program's own tables say where its functions lie, as its symbols do.
func TestBodiesOfGo(t *testing.T) {
	for name, flags := range map[string][]string{"plain": nil, "PIE": {"-buildmode=pie"}} {
		exe := compile(t, flags...)
		f, err := elf.Open(exe)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		all, err := f.Symbols()
		if err != nil {
			t.Fatal(err)
		}
		build, err := buildid.Of(f)
		if err != nil {
			t.Fatal(err)
		}
		set, _ := Open([]string{exe})
		p := readProgram(f)
		seen := 0
		for _, s := range all {
			if elf.ST_TYPE(s.Info) != elf.STT_FUNC || !strings.HasPrefix(s.Name, "main.") || strings.HasSuffix(s.Name, ".abi0") {
				continue
			}
			seen++
			at := fileOffset(t, p, s.Value)
			for _, offset := range []uint64{at, at + s.Size/2, at + s.Size - 1} {
				c, err := set.Code(build, offset)
				if err != nil {
					t.Fatalf("%s: %s: %v", name, s.Name, err)
				}
				if c.Start != at || c.End < at+s.Size || c.End > at+s.Size+64 || c.Name != s.Name || !c.Go || c.Shifted || uint64(len(c.Bytes)) != c.End-c.Start {
					t.Errorf("%s: %s at %#x of %d bytes: %+v", name, s.Name, at, s.Size, c.Body)
				}
				if text, start := c.Symbol(offset); text != s.Name || start != at {
					t.Errorf("%s: %s is %q at %#x", name, s.Name, text, start)
				}
			}
		}
		if seen < 5 {
			t.Errorf("%s: %d functions: the test does not test what it should", name, seen)
		}
	}
}

// Code needs the program, and where its functions lie: that may be in a file of its own.
func TestCodeOfC(t *testing.T) {
	dir := t.TempDir()
	source, exe := filepath.Join(dir, "main.c"), filepath.Join(dir, "exe")
	if err := os.WriteFile(source, []byte(detachedSource), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, "gcc", "-O1", "-no-pie", "-Wl,--build-id", "-o", exe, source)
	build, offset := hiddenFunction(t, exe)
	names, stripped := filepath.Join(dir, "names"), filepath.Join(dir, "stripped")
	run(t, "objcopy", "--only-keep-debug", exe, names)
	run(t, "strip", "-o", stripped, exe)
	var whole *Code
	for _, c := range []struct {
		files []string
		err   error
	}{
		{[]string{exe}, nil}, {[]string{stripped}, ErrNoFunction}, {[]string{names}, ErrNoCode}, {[]string{names, stripped}, nil}, {[]string{source}, ErrNoCode},
	} {
		set, _ := Open(c.files)
		code, err := set.Code(build, offset+1)
		if _, bodyErr := set.Body(build, offset+1); !errors.Is(err, c.err) || !errors.Is(bodyErr, c.err) {
			t.Errorf("%v: %v, %v; want %v", c.files, err, bodyErr, c.err)
		}
		if err != nil {
			continue
		}
		if code.Name != "hidden" || code.Start != offset || code.Go || len(code.Bytes) == 0 {
			t.Errorf("%v: %+v", c.files, code.Body)
		}
		if whole == nil {
			whole = code
		} else if string(code.Bytes) != string(whole.Bytes) {
			t.Errorf("%v: other code than the whole program's", c.files)
		}
	}
	set, _ := Open([]string{exe})
	for _, at := range []uint64{0, math.MaxUint64, 1 << 40} {
		if _, err := set.Code(build, at); !errors.Is(err, ErrNoFunction) {
			t.Errorf("at %#x: %v", at, err)
		}
	}
	if set.Has("another") || !set.Has(build) {
		t.Error("which builds are here is not known")
	}
}
