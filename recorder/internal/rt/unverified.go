//go:build go1.28 || gprof_unverified

package rt

// The tag gprof_unverified is never set: a constraint of go1.28 alone would make this file one of a later language.
const verified = false
