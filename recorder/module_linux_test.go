package recorder

import (
	"os"
	"strings"
	"testing"

	"gprof/rawformat/buildid"
)

func TestParseMapping(t *testing.T) {
	for _, tt := range []struct {
		line string
		want module
		ok   bool
	}{
		{"00400000-0052a000 r-xp 00001000 fe:00 1234                              /usr/bin/x", module{"/usr/bin/x", "", 0x400000, 0x52a000, 0x1000}, true},
		{"7f0000000000-7f0000001000 r-xp 00000000 fe:00 99 /tmp/a b (deleted)", module{"/tmp/a b (deleted)", "", 0x7f0000000000, 0x7f0000001000, 0}, true},
		{"7ffc0000-7ffc2000 r-xp 00000000 00:00 0          [vdso]", module{"[vdso]", "", 0x7ffc0000, 0x7ffc2000, 0}, true},
		{"00400000-0052a000 r--p 00000000 fe:00 1234 /usr/bin/x", module{}, false},
		{"00400000-0052a000 rwxp 00000000 00:00 0", module{}, false},
		{"00400000-0052a000 rwxp 00000000 00:00 0 [anon:jit]", module{}, false},
		{"0052a000-00400000 r-xp 00000000 fe:00 1234 /usr/bin/x", module{}, false},
		{"x-y r-xp 0 0 0 /x", module{}, false},
		{"", module{}, false},
	} {
		got, ok := parseMapping(tt.line)
		if ok != tt.ok || ok && got != tt.want {
			t.Errorf("%q: %+v, %v, want %+v, %v", tt.line, got, ok, tt.want, tt.ok)
		}
	}
}

func FuzzParseMapping(f *testing.F) {
	f.Add("00400000-0052a000 r-xp 00001000 fe:00 1234    /usr/bin/x")
	f.Fuzz(func(t *testing.T, line string) {
		if m, ok := parseMapping(line); ok && (m.path == "" || m.end <= m.start) {
			t.Fatalf("%q: %+v", line, m)
		}
	})
}

func TestMappedModules(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	modules := mappedModules(func(module) bool { return false })
	found := false
	for _, m := range modules {
		found = found || m.path == exe
		if m.build == "" {
			t.Errorf("%s has no build id", m.path)
		}
	}
	if !found {
		t.Errorf("%s is not among %v", exe, modules)
	}
	if again := mappedModules(func(module) bool { return true }); len(again) > 0 {
		t.Errorf("known ones are listed again: %v", again)
	}
}

// The kernel's code in the process, which is in no file, has the build id that is
// noted in it, and functions.
func TestKernelCode(t *testing.T) {
	all := mappedModules(func(m module) bool { return m.path != vdso })
	if len(all) != 1 || all[0].build == "" || strings.HasPrefix(all[0].build, buildid.ContentPrefix) {
		t.Fatalf("%+v", all)
	}
	functions := all[0].functions()
	if len(functions) == 0 {
		t.Fatal("it has no functions")
	}
	for _, f := range functions {
		if f.start < all[0].start || f.end > all[0].end || f.start >= f.end {
			t.Errorf("%+v lies outside of %+v", f, all[0])
		}
	}
}
