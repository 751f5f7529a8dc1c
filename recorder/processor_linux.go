package recorder

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// cpuName is what the kernel calls the first processor, "" if it has no name for it,
// as on arm64.
func cpuName() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	defer f.Close()
	// Its beginning: the file is made as it is read, and of all processors that takes
	// milliseconds.
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

// cores is how many cores the machine has, 0 if it does not tell.
func cores() int { return coresIn("/sys/devices/system/cpu") }

// coresIn counts cores by the hardware threads that each processor shares one with.
func coresIn(dir string) int {
	files, _ := filepath.Glob(filepath.Join(dir, "cpu[0-9]*/topology/thread_siblings_list")) // the pattern is right
	known := map[string]bool{}
	for _, file := range files {
		if siblings, err := os.ReadFile(file); err == nil {
			known[strings.TrimSpace(string(siblings))] = true
		}
	}
	return len(known)
}
