package jitnames

import (
	"strconv"
	"testing"

	"gprof/stream"
)

func TestCategory(t *testing.T) {
	for name, want := range map[string]stream.Category{
		"JS:~f file:///srv/w.js:1:1":      part(javaScript, "Interpreter"),
		"JS:^f /srv/w.js:2:13":            part(javaScript, "Baseline"),
		"JS:*f /srv/w.js:2:13":            part(javaScript, "Optimized"),
		"LazyCompile:*hot /srv/w.js:2:13": part(javaScript, "Optimized"),
		"Function:+hot /srv/w.js:2:13":    part(javaScript, "Maglev"),
		"JS:f":                            javaScript,
		"JS:":                             javaScript,
		"Builtin:ArrayPrototypePush":      part(javaScript, "Builtin"),
		"BytecodeHandler:LdaGlobal":       part(javaScript, "Interpreter"),
		"RegExp:a+b":                      part(javaScript, "RegExp"),
		"JS:wasm-function[3]":             wasm,
		"wasm[0]::function[12]":           wasm,
		"long J.f(int)":                   java,
		"void java.lang.Object.<init>()":  java,
		"Ljava/lang/String;::hashCode":    java,
		"Lcom/corp/Main;::run":            java,
		"Interpreter":                     part(java, "Interpreter"),
		"StubRoutines (1)":                part(java, "Stub"),
		"py::work:/srv/w.py":              python,
		"void [System.Private.CoreLib] System.String::Ctor()[PreJIT]":      dotNet,
		"instance int32 [web] Web.Program::Main(string[])[OptimizedTier1]": dotNet,
		"$lists:map/2":        erlang,
		"[JIT] Integer#times": ruby,
		"TRACE_12::a.lua:3":   lua,
		"julia_f_12":          julia,
		"f(int)":              Other,
		"ns::f(int, char)":    Other,
		"a b c":               Other,
		"x[3]":                Other,
		"":                    Other,
	} {
		if got := Category(name); got != want {
			t.Errorf("%q is %s, want %s", name, got.Title(), want.Title())
		}
	}
}

func TestSplit(t *testing.T) {
	for name, want := range map[string][3]string{
		"JS:*hot /srv/w.js:2:13":                {"JS:*hot", "/srv/w.js", "2"},
		"JS:~ file:///srv/a b.js:1:1":           {"JS:~(anonymous)", "file:///srv/a b.js", "1"},
		"JS:^f node:internal/modules/run:117:9": {"JS:^f", "node:internal/modules/run", "117"},
		"LazyCompile:~f w.js:7":                 {"LazyCompile:~f", "w.js", "7"},
		"JS:f":                                  {"JS:f", "", "0"},
		"JS:":                                   {"JS:", "", "0"},
		"py::work:/srv/w.py":                    {"py::work", "/srv/w.py", "0"},
		"py::work":                              {"py::work", "", "0"},
		"Builtin:Add a:1:2":                     {"Builtin:Add a:1:2", "", "0"},
		"long J.f(int, int)":                    {"long J.f(int, int)", "", "0"},
	} {
		function, file, line := Split(name)
		if got := [3]string{function, file, strconv.Itoa(int(line))}; got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("JS:*hot /srv/w.js:2:13")
	f.Fuzz(func(t *testing.T, name string) {
		function, file, line := Split(name)
		if len(function)+len(file) > len(name)+len("(anonymous)") || line < 0 {
			t.Errorf("%q is %q, %q, %d", name, function, file, line)
		}
		Category(name)
	})
}
