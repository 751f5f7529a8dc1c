//go:build !linux

package recorder

// freeBytes is unknown here.
func freeBytes(string) int64 { return -1 }

func checkFiles() error { return nil }

// sharedDir is "": there is no shared memory here.
func sharedDir() string { return "" }

func isShared(string) bool { return false }

func checkShared(string) error { return nil }
