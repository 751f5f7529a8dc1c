//go:build !linux

package recorder

// freeBytes is what is free where dir lies: unknown here.
func freeBytes(string) int64 { return -1 }

// sharedDir is our directory in shared memory: none here.
func sharedDir() string { return "" }

func isShared(string) bool { return false }

func checkShared(string) error { return nil }
