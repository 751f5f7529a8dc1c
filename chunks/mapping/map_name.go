//go:build !windows

package mapping

// MappedKeepsName says whether a mapped file cannot be removed or replaced.
const MappedKeepsName = false
