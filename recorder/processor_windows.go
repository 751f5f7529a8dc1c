package recorder

import "golang.org/x/sys/windows/registry"

// cpuName is what the system calls its first processor, "" if it does not tell.
func cpuName() string {
	key, err := registry.OpenKey(registry.LOCAL_MACHINE, `HARDWARE\DESCRIPTION\System\CentralProcessor\0`, registry.QUERY_VALUE)
	if err != nil {
		return ""
	}
	defer key.Close()
	name, _, _ := key.GetStringValue("ProcessorNameString") // "" is unknown
	return name
}

// cores is how many cores the machine has: unknown here.
func cores() int { return 0 }
