//go:build !((amd64 || arm64) && !go1.28 && !nosonic)

package extent

// Native reports whether sonic's machine code is used.
const Native = false

// native finds nothing.
func native([]byte) int { return 0 }
