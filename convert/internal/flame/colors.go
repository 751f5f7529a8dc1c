package flame

import (
	"hash/fnv"
	"strings"
)

// categoryHex are the colours of categories, by the names that Firefox Profiler has for
// them: light enough for dark text, dark enough for a white page.
var categoryHex = map[string]string{
	"transparent": "#e3e6ea", "purple": "#c3a6e8", "green": "#8fcf9b", "orange": "#f3b26b", "yellow": "#ecd266",
	"lightblue": "#9fd4ea", "blue": "#8fb4f0", "brown": "#d0ae8a", "magenta": "#e79fd0", "red": "#ef8f84", "lightred": "#f5b5ab",
	"darkgrey": "#b0b7c1", "grey": "#ccd2d9",
}

// CategoryHex is the colour of a category of that colour's name.
func CategoryHex(name string) string {
	if hex, ok := categoryHex[name]; ok {
		return hex
	}
	return categoryHex["grey"]
}

// packageHex are colours that packages get by their names: always the same one,
// so that two graphs can be compared.
var packageHex = []string{
	"#f0a48a", "#8fb4f0", "#8fcf9b", "#ecd266", "#c3a6e8", "#9fd4ea", "#e79fd0", "#d0ae8a", "#f3b26b", "#a9d8c4", "#b8c4f2", "#d6d98a",
}

// PackageHex is the colour of a package; none is grey.
func PackageHex(name string) string {
	if name == "" {
		return categoryHex["grey"]
	}
	return packageHex[hash(name)%uint32(len(packageHex))]
}

func hash(s string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(s))
	return h.Sum32()
}

// splitName returns the package in a Go function's name, as "net/http" in
// "net/http.(*conn).serve", and the name without the path to it:
// "http.(*conn).serve". Type arguments and receivers have slashes and dots of
// their own. A name without a package is of its module.
func splitName(function, module string) (pkg, short string) {
	head := function
	if i := strings.IndexAny(head, "[("); i >= 0 {
		head = head[:i]
	}
	slash := strings.LastIndexByte(head, '/') + 1
	if dot := strings.IndexByte(head[slash:], '.'); dot > 0 {
		return head[:slash+dot], function[slash:]
	}
	return module, function
}
