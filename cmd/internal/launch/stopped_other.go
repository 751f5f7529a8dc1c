//go:build !linux

package launch

import "os/exec"

// StartStopped starts a command and calls f. It can't be stopped here.
func StartStopped(cmd *exec.Cmd, f func(pid int)) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	f(cmd.Process.Pid)
	return nil
}
