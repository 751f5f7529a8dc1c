package machine

import (
	"os"
	"path/filepath"
	"testing"
)

func TestModelName(t *testing.T) {
	for info, want := range map[string]string{
		"processor\t: 0\nmodel\t\t: 1\nmodel name\t: AMD EPYC 7B13 \nflags\t: fpu\n": "AMD EPYC 7B13",
		"processor\t: 0\nBogoMIPS\t: 243.75\n":                                       "",
		"":                                                                           "",
	} {
		if got := modelName([]byte(info)); got != want {
			t.Errorf("%q: %q, want %q", info, got, want)
		}
	}
}

// Hardware threads that share a core count once, whatever they are numbered.
func TestCores(t *testing.T) {
	dir := t.TempDir()
	for cpu, siblings := range map[string]string{"cpu0": "0,4\n", "cpu4": "0,4\n", "cpu1": "1\n", "cpu12": "12\n", "cpufreq": "9\n"} {
		topology := filepath.Join(dir, cpu, "topology")
		if err := os.MkdirAll(topology, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(topology, "thread_siblings_list"), []byte(siblings), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := coresIn(dir); got != 3 {
		t.Errorf("%d cores, want 3", got)
	}
	if got := coresIn(t.TempDir()); got != 0 {
		t.Errorf("%d cores of a machine that does not tell", got)
	}
}
