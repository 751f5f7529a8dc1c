package machine

import "golang.org/x/sys/windows/registry"

// CPUName is the system's name of the first processor, "" if it has none.
func CPUName() string {
	key, err := registry.OpenKey(registry.LOCAL_MACHINE, `HARDWARE\DESCRIPTION\System\CentralProcessor\0`, registry.QUERY_VALUE)
	if err != nil {
		return ""
	}
	defer key.Close()
	name, _, _ := key.GetStringValue("ProcessorNameString") // "" is unknown
	return name
}

// Cores is how many cores the machine has: unknown here.
func Cores() int { return 0 }
