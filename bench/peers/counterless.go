//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"gprof/recorder"
)

// counterlessVariable is set in the process that measures the recorder without the
// processor's counter. Its value is a directory.
const counterlessVariable = "GPROF_PEERS_COUNTERLESS"

const clockSource = "/sys/devices/system/clocksource/clocksource0/current_clocksource"

// counterless measures the floor and the marker in a process that sees another
// clock source in the place of the kernel's, as on a machine whose counter can't
// be trusted.
func counterless(dir string) (m measured, err error) {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), counterlessVariable+"="+dir)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	out, err := cmd.Output()
	if err != nil {
		return m, fmt.Errorf("a process that sees another clock source: %w", err)
	}
	return m, json.Unmarshal(out, &m)
}

func counterlessChild(dir string) error {
	other := filepath.Join(dir, "clocksource")
	if err := os.WriteFile(other, []byte("hpet\n"), 0o600); err != nil {
		return err
	}
	if err := unix.Mount(other, clockSource, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("mount: %w", err)
	}
	rec, err := recorder.Start(options(dir))
	if err != nil {
		return err
	}
	defer rec.Stop()
	return json.NewEncoder(os.Stdout).Encode(measure(lines(rec)[:2]))
}
