// Package jitnames tells what runtimes say in the names of code that they make as they run: of which
// language it is, and how it was made.
package jitnames

import (
	"strconv"
	"strings"

	"gprof/stream"
)

// Other is the category of such code when its name tells nothing, or there is none.
var Other = stream.Category{Name: "JIT", Color: "magenta"}

// Categories of languages.
var (
	javaScript = stream.Category{Name: "JavaScript", Color: "yellow"}
	wasm       = stream.Category{Name: "WebAssembly", Color: "lightred"}
	java       = stream.Category{Name: "Java", Color: "green"}
	python     = stream.Category{Name: "Python", Color: "blue"}
	dotNet     = stream.Category{Name: ".NET", Color: "purple"}
	ruby       = stream.Category{Name: "Ruby", Color: "red"}
	php        = stream.Category{Name: "PHP", Color: "purple"}
	erlang     = stream.Category{Name: "Erlang", Color: "brown"}
	lua        = stream.Category{Name: "Lua", Color: "lightblue"}
	julia      = stream.Category{Name: "Julia", Color: "green"}
)

// prefixes are the beginnings of names; the first that fits counts.
var prefixes = []struct {
	stream.Category
	begin string
}{
	{wasm, "wasm["}, {wasm, "wasm-function["}, {wasm, "Wasm:"}, {wasm, "Function:wasm"}, {wasm, "JS:wasm-function["},
	{python, "py::"},
	{ruby, "[JIT] "},
	{php, "JIT$"}, {php, "TRACE-"},
	{lua, "TRACE_"}, {lua, "Lua:"},
	{julia, "julia_"}, {julia, "jlsys_"}, {julia, "japi1_"},
	{part(javaScript, "Builtin"), "Builtin:"}, {part(javaScript, "Interpreter"), "BytecodeHandler:"}, {part(javaScript, "RegExp"), "RegExp:"}, {part(javaScript, "Stub"), "Stub:"},
	{part(javaScript, "Optimized"), "Ion: "}, {part(javaScript, "Baseline"), "Baseline: "}, {part(javaScript, "Interpreter"), "BaselineInterpreter"},
	{part(java, "Stub"), "StubRoutines ("}, {part(java, "Stub"), "vtable stub"}, {part(java, "Stub"), "itable stub"}, {part(java, "Stub"), "I2C/C2I adapters"},
	{java, "Ljava/"}, {java, "Lsun/"}, {java, "Ljdk/"},
}

// scripts are what V8 writes before the name of a function, behind which a sign may stand for how it was
// compiled.
var scripts = []string{"JS:", "LazyCompile:", "Function:", "Script:", "Eval:", "InterpretedFunction:"}

var tiers = map[byte]string{'~': "Interpreter", '^': "Baseline", '+': "Maglev", '*': "Optimized"}

// tags are what .NET puts behind a name.
var tags = []string{"[Tier0]", "[Tier1]", "[Tier-0]", "[Tier-1]", "[OptimizedTier1]", "[OptimizedTier1OSR]", "[Instrumented]", "[QuickJitted]", "[Optimized]", "[MinOptJitted]", "[PreJIT]", "[PreStub]", "[ReadyToRun]"}

func part(c stream.Category, name string) stream.Category {
	c.Sub = name
	return c
}

// Category sorts a function that a program has made by its name.
func Category(name string) stream.Category {
	if c, ok := byPrefix(name); ok {
		return c
	}
	switch {
	case name == "Interpreter":
		return part(java, "Interpreter") // HotSpot's
	case hasTag(name):
		return dotNet
	case strings.HasPrefix(name, "$") && strings.Contains(name, ":") && strings.Contains(name, "/"):
		return erlang // $module:function/arity
	case isJava(name):
		return java
	}
	return Other
}

func byPrefix(name string) (c stream.Category, ok bool) {
	for _, p := range prefixes {
		if strings.HasPrefix(name, p.begin) {
			return p.Category, true
		}
	}
	for _, s := range scripts {
		if rest, ok := strings.CutPrefix(name, s); ok {
			if rest != "" {
				return part(javaScript, tiers[rest[0]]), true
			}
			return javaScript, true
		}
	}
	return c, false
}

func hasTag(name string) bool {
	i := strings.LastIndexByte(name, '[')
	if i < 0 {
		return false
	}
	for _, tag := range tags {
		if name[i:] == tag {
			return true
		}
	}
	return false
}

// isJava reports whether a name is that of a method as HotSpot writes it: "long java.lang.Math.max(long,
// long)", or as agents do: "Lcom/corp/Main;::run".
func isJava(name string) bool {
	if strings.Contains(name, ";::") {
		return true
	}
	head, _, ok := strings.Cut(name, "(")
	if !ok || !strings.HasSuffix(name, ")") {
		return false
	}
	result, method, ok := strings.Cut(head, " ")
	return ok && result != "" && strings.Contains(method, ".") && !strings.ContainsAny(method, " :/")
}

// Split splits the name of a function from its place in a source, which some runtimes append: V8 writes
// "JS:*f /srv/w.js:2:13", Python "py::f:/srv/w.py". file is "" and line 0 if they are not told.
func Split(name string) (function, file string, line int32) {
	if rest, ok := strings.CutPrefix(name, "py::"); ok {
		if f, file, ok := strings.Cut(rest, ":"); ok && f != "" {
			return "py::" + f, file, 0
		}
		return name, "", 0
	}
	for _, s := range scripts {
		if rest, ok := strings.CutPrefix(name, s); ok {
			return splitScript(s, rest)
		}
	}
	return name, "", 0
}

// splitScript splits what V8 writes behind the kind of code: a sign, a name, a space, and a place.
func splitScript(kind, rest string) (function, file string, line int32) {
	f, place, ok := strings.Cut(rest, " ")
	if !ok {
		return kind + rest, "", 0
	}
	place, column := cutNumber(place)
	file, line = cutNumber(place)
	if line == 0 { // there is one number only
		line = column
	}
	if strings.Trim(f, "~^+*'") == "" {
		f += "(anonymous)"
	}
	return kind + f, file, line
}

// cutNumber cuts a number behind a colon off the end of a text; it is 0 if there is none.
func cutNumber(text string) (rest string, n int32) {
	i := strings.LastIndexByte(text, ':')
	v, err := strconv.ParseInt(text[i+1:], 10, 32)
	if i < 0 || err != nil || v < 0 {
		return text, 0
	}
	return text[:i], int32(v)
}
