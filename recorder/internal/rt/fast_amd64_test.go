//go:build linux && !gprof_portable && !go1.28

package rt

import (
	"bytes"
	"os"
	"testing"
)

// The processor says of its counter what the kernel says.
func TestCounterInvariant(t *testing.T) {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		t.Fatal(err)
	}
	want := bytes.Contains(info, []byte(" constant_tsc ")) && bytes.Contains(info, []byte(" nonstop_tsc "))
	if err := counterInvariant(); (err == nil) != want {
		t.Errorf("%v; /proc/cpuinfo says %v", err, want)
	}
}
