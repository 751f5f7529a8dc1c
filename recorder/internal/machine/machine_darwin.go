package machine

import "golang.org/x/sys/unix"

// CPUName is the system's name of the processor, "" if it has none.
func CPUName() string {
	name, _ := unix.Sysctl("machdep.cpu.brand_string") // "" is unknown
	return name
}

// Cores is how many cores the machine has, 0 if that is unknown.
func Cores() int {
	n, _ := unix.SysctlUint32("hw.physicalcpu") // 0 is unknown
	return int(n)
}
