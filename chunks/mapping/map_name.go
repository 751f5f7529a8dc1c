//go:build !windows

package mapping

// MappedKeepsName: nobody can remove or replace a file that is mapped.
const MappedKeepsName = false
