package recorder_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"gprof/rawformat"
	"gprof/recorder"
)

// Meta has what the kernel's files say about the processor: its name, and the number of cores,
// which is at most the number of hardware threads.
func TestMetaProcessor(t *testing.T) {
	info, _ := os.ReadFile("/proc/cpuinfo")
	threads, _ := filepath.Glob("/sys/devices/system/cpu/cpu[0-9]*/topology/thread_siblings_list")
	r := finish(t, begin(t, recorder.Options{}))
	name := r.meta(rawformat.MetaCPUName)
	if bytes.Contains(info, []byte("\nmodel name")) != (name != "") || !bytes.Contains(info, []byte(name)) {
		t.Errorf("processor %q of a machine with\n%.300s", name, info)
	}
	if cores, _ := strconv.Atoi(r.meta(rawformat.MetaCores)); (len(threads) > 0) != (cores > 0) || cores > len(threads) {
		t.Errorf("%d cores of %d hardware threads", cores, len(threads))
	}
}
