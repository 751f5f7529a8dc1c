package output

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Files of a killed process are removed; those that a live one is writing stay.
func TestRemoveStale(t *testing.T) {
	dead := exec.Command(os.Args[0], "-test.run=^$")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	zombie := exec.Command(os.Args[0], "-test.run=^$")
	ended, err := zombie.StdoutPipe()
	if err == nil {
		err = zombie.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, ended)
	t.Cleanup(func() { zombie.Wait() })
	dir := t.TempDir()
	stays := []string{"a.json", ".gprof-batch.jsonl", ".hidden.7-x", fmt.Sprintf("b.json.%d-1", dead.Process.Pid), strings.Replace(temporaryName("a.json"), "*", "5", 1)}
	goes := []string{fmt.Sprintf(".a.json.%d-123", dead.Process.Pid)}
	if runtime.GOOS == "linux" {
		goes = append(goes, fmt.Sprintf(".z.json.%d-9", zombie.Process.Pid))
		for at := fmt.Sprintf("/proc/%d/stat", zombie.Process.Pid); ; { // its output is closed a moment before it is dead
			if b, err := os.ReadFile(at); err != nil || strings.Contains(string(b), ") Z ") {
				break
			}
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range append(stays, goes...) {
		for _, sub := range []string{".", "sub"} {
			if err := os.WriteFile(filepath.Join(dir, sub, name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	RemoveStale(dir)
	for _, sub := range []string{".", "sub"} {
		entries, err := os.ReadDir(filepath.Join(dir, sub))
		if err != nil {
			t.Fatal(err)
		}
		left := map[string]bool{}
		for _, e := range entries {
			left[e.Name()] = true
		}
		for _, name := range stays {
			if !left[name] {
				t.Errorf("%s is gone", name)
			}
		}
		for _, name := range goes {
			if left[name] {
				t.Errorf("%s is still there", name)
			}
		}
	}
}
