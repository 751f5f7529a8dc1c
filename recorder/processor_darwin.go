package recorder

import "golang.org/x/sys/unix"

// cpuName is what the system calls its processor.
func cpuName() string {
	name, _ := unix.Sysctl("machdep.cpu.brand_string") // "" is unknown
	return name
}

// cores is how many cores the machine has, 0 if it does not tell.
func cores() int {
	n, _ := unix.SysctlUint32("hw.physicalcpu") // 0 is unknown
	return int(n)
}
