//go:build !linux

package counters

// MemoryLimit is the limit of the memory cgroup: none here.
func MemoryLimit() int64 { return 0 }
