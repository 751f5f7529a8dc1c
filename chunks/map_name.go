//go:build !windows

package chunks

// MappedKeepsName: nobody can remove or replace a file that is mapped.
const MappedKeepsName = false
