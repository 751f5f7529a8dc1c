package machine

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"gprof/recorder/internal/rt"
)

// CPUName is the kernel's name of the first processor, "" if it has none, as on
// arm64.
func CPUName() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	defer f.Close()
	// Only its beginning: the kernel makes the file as it is read, which takes
	// milliseconds for many processors.
	var head [4 << 10]byte
	n, _ := io.ReadFull(f, head[:])
	return modelName(head[:n])
}

// modelName is the model in a text such as
//
//	model name	: AMD EPYC 7B13
func modelName(info []byte) string {
	for line := range bytes.Lines(info) {
		key, value, _ := bytes.Cut(line, []byte(":"))
		if string(bytes.TrimSpace(key)) == "model name" {
			return string(bytes.TrimSpace(value))
		}
	}
	return ""
}

// Cores is how many cores the machine has, 0 if that is unknown.
func Cores() int { return coresIn("/sys/devices/system/cpu") }

// coresIn counts the sets of processors that share a core.
func coresIn(dir string) int {
	entries, _ := os.ReadDir(dir) // if it can't be read, nothing is known
	known := map[string]bool{}
	for _, e := range entries {
		number, processor := strings.CutPrefix(e.Name(), "cpu")
		if _, err := strconv.ParseUint(number, 10, 32); err != nil || !processor {
			continue
		}
		if siblings, err := rt.ReadKernel(filepath.Join(dir, e.Name(), "topology/thread_siblings_list")); err == nil {
			known[strings.TrimSpace(string(siblings))] = true
		}
	}
	return len(known)
}
