package gecko

import (
	"testing"
)

// Texts of frames as Firefox and we write them; see parseLocation.
func TestLocation(t *testing.T) {
	for text, want := range map[string]location{
		"0x7f12":                        {kind: isAddress, address: 0x7f12},
		"0xzz":                          {name: []byte("0xzz")},
		"main.run (in shop)":            {kind: isNative, name: []byte("main.run"), place: []byte("shop")},
		"f (in lib) + 12":               {kind: isNative, name: []byte("f"), place: []byte("lib")},
		"f(int) (in lib) (a/b.cpp:12)":  {kind: isNative, name: []byte("f(int)"), place: []byte("lib"), file: []byte("a/b.cpp"), fileLine: 12},
		"non-virtual thunk to f (in l)": {kind: isNative, name: []byte("f"), place: []byte("l")},
		"run (https://a.b/c.js:7:12)":   {kind: isScript, name: []byte("run"), place: []byte("https://a.b/c.js"), line: 7, column: 12},
		"run (c.js:7)[3]":               {kind: isScript, name: []byte("run"), place: []byte("c.js"), line: 7},
		"a (b) (resource://x.js:1:2)":   {kind: isScript, name: []byte("a (b)"), place: []byte("resource://x.js"), line: 1, column: 2},
		"chrome://a.js:17":              {kind: isScript, name: []byte("(root scope) chrome://a.js"), place: []byte("chrome://a.js"), line: 17},
		"(a) (b.js -> c.js -> d.js:4)":  {kind: isScript, name: []byte("(a)"), place: []byte("d.js"), line: 4},
		"a.js -> resource://b.js:5:1":   {kind: isScript, name: []byte("(root scope) resource://b.js"), place: []byte("resource://b.js"), line: 5, column: 1},
		"a.js -> :5":                    {name: []byte("a.js -> :5")},
		"Node.appendChild":              {name: []byte("Node.appendChild")},
		"(root)":                        {name: []byte("(root)")},
		"get [3]":                       {name: []byte("get [3]")},
		"":                              {name: []byte("")},
		"request:12 ":                   {name: []byte("request:12 ")},
		"x (in":                         {name: []byte("x (in")},
		":1":                            {name: []byte(":1")},
	} {
		got := parseLocation([]byte(text))
		if got.kind != want.kind || string(got.name) != string(want.name) || string(got.place) != string(want.place) || got.address != want.address ||
			got.line != want.line || got.column != want.column || string(got.file) != string(want.file) || got.fileLine != want.fileLine {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

func FuzzLocation(f *testing.F) {
	f.Add([]byte("f (in lib) (a/b.cpp:12)"))
	f.Add([]byte("run (https://a.b/c.js:7:12)[3]"))
	f.Fuzz(func(t *testing.T, text []byte) { parseLocation(text) })
}
