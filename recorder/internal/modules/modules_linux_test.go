package modules

import (
	"os"
	"strings"
	"testing"

	"gprof/rawformat/buildid"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		line string
		want Module
		ok   bool
	}{
		{"00400000-0052a000 r-xp 00001000 fe:00 1234                              /usr/bin/x", Module{"/usr/bin/x", "", 0x400000, 0x52a000, 0x1000}, true},
		{"7f0000000000-7f0000001000 r-xp 00000000 fe:00 99 /tmp/a b (deleted)", Module{"/tmp/a b (deleted)", "", 0x7f0000000000, 0x7f0000001000, 0}, true},
		{"7ffc0000-7ffc2000 r-xp 00000000 00:00 0          [vdso]", Module{"[vdso]", "", 0x7ffc0000, 0x7ffc2000, 0}, true},
		{"00400000-0052a000 r--p 00000000 fe:00 1234 /usr/bin/x", Module{}, false},
		{"00400000-0052a000 rwxp 00000000 00:00 0", Module{"", "", 0x400000, 0x52a000, 0}, true},
		{"00400000-0052a000 rwxp 00000000 00:00 0 [anon:jit]", Module{"[anon:jit]", "", 0x400000, 0x52a000, 0}, true},
		{"0052a000-00400000 r-xp 00000000 fe:00 1234 /usr/bin/x", Module{}, false},
		{"x-y r-xp 0 0 0 /x", Module{}, false},
		{"", Module{}, false},
	} {
		got, ok := parse(tt.line)
		if ok != tt.ok || ok && got != tt.want {
			t.Errorf("%q: %+v, %v, want %+v, %v", tt.line, got, ok, tt.want, tt.ok)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("00400000-0052a000 r-xp 00001000 fe:00 1234    /usr/bin/x")
	f.Fuzz(func(t *testing.T, line string) {
		if m, ok := parse(line); ok && m.End <= m.Start {
			t.Fatalf("%q: %+v", line, m)
		}
	})
}

func TestMappedModules(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	modules := Mapped(func(Module) bool { return false })
	found := false
	for _, m := range modules {
		found = found || m.Path == exe
		if m.Build == "" {
			t.Errorf("%s has no build id", m.Path)
		}
	}
	if !found {
		t.Errorf("%s is not among %v", exe, modules)
	}
	if again := Mapped(func(Module) bool { return true }); len(again) > 0 {
		t.Errorf("known ones are listed again: %v", again)
	}
}

// The kernel's code in the process, which is not in a file, has functions and a build id in a note of its own.
func TestVDSO(t *testing.T) {
	all := Mapped(func(m Module) bool { return m.Path != vdso })
	if len(all) != 1 || all[0].Build == "" || strings.HasPrefix(all[0].Build, buildid.ContentPrefix) {
		t.Fatalf("%+v", all)
	}
	functions := all[0].Functions()
	if len(functions) == 0 {
		t.Fatal("it has no functions")
	}
	for _, f := range functions {
		if f.Start < all[0].Start || f.End > all[0].End || f.Start >= f.End {
			t.Errorf("%+v lies outside of %+v", f, all[0])
		}
	}
}
