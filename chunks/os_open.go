//go:build !windows

package chunks

// mappedKeepsName: nobody can remove or replace a file that is mapped.
const mappedKeepsName = false
