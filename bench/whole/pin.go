//go:build linux

package main

import (
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// The server has a processor of its own. As clients keep it busy, none of its CPU time is
// that of threads which look for work, and how much that is changes from block to block.
const (
	serverCPU  = 0
	clientsCPU = 1
)

// pin keeps all threads of this process on a processor.
func pin(cpu int) error {
	runtime.GOMAXPROCS(1)
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return err
	}
	var set unix.CPUSet
	set.Set(cpu)
	for _, task := range tasks {
		tid, err := strconv.Atoi(task.Name())
		if err != nil {
			return err
		}
		if err := unix.SchedSetaffinity(tid, &set); err != nil && err != unix.ESRCH {
			return err
		}
	}
	return nil
}
