//go:build (amd64 || arm64) && !go1.28 && !nosonic

package extent

import (
	"unsafe"

	"github.com/bytedance/sonic/ast"
)

// Native reports whether sonic's machine code is used: it lags behind releases of Go, and falls back to code that is slower than ours.
const Native = true

// native returns where the object or list ends that text begins with, 0 if not in the text.
func native(text []byte) int {
	all := ast.NewSearcher(unsafe.String(&text[0], len(text)))
	all.ValidateJSON = false
	value, err := all.GetByPath()
	if err != nil {
		return 0
	}
	raw, err := value.Raw()
	if err != nil {
		return 0
	}
	return len(raw)
}
