package recorder

import hive "golang.org/x/sys/windows/registry" // the package has a registry of its own

// cpuName is what the system calls its first processor, "" if it does not tell.
func cpuName() string {
	key, err := hive.OpenKey(hive.LOCAL_MACHINE, `HARDWARE\DESCRIPTION\System\CentralProcessor\0`, hive.QUERY_VALUE)
	if err != nil {
		return ""
	}
	defer key.Close()
	name, _, _ := key.GetStringValue("ProcessorNameString") // "" is unknown
	return name
}

// cores is how many cores the machine has: unknown here.
func cores() int { return 0 }
