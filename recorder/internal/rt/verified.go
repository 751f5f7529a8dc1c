//go:build !go1.28 && !gprof_unverified

package rt

// verified reports that the tricks were tried with this version of Go, see the table in doc.go. All files with tricks
// have this build constraint, so that a name which a later Go lacks is no error of the linker's.
const verified = true
