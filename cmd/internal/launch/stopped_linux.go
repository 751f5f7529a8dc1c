package launch

import (
	"os/exec"
	"runtime"
	"syscall"
)

// StartStopped starts a command and calls f while it is stopped before its first
// instruction, as a traced process is.
func StartStopped(cmd *exec.Cmd, f func(pid int)) error {
	runtime.LockOSThread() // the tracer is a thread
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	pid := cmd.Process.Pid
	var status syscall.WaitStatus
	for {
		if _, err := syscall.Wait4(pid, &status, 0, nil); err != syscall.EINTR {
			break // it is stopped, or Wait finds out why not
		}
	}
	f(pid)
	if err := syscall.PtraceDetach(pid); err != nil && err != syscall.ESRCH { // it was killed
		return err
	}
	return nil
}
