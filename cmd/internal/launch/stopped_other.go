//go:build !linux

package launch

import "os/exec"

// StartStopped starts a command and calls f, which has nothing to do here but to say so.
func StartStopped(cmd *exec.Cmd, f func(pid int)) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	f(cmd.Process.Pid)
	return nil
}
