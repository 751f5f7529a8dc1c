package attach

import (
	"fmt"
	"strings"
	"syscall"
)

// Refusal says what the kernel does not allow, the likely reason, and what would allow it.
type Refusal struct {
	What  string   // what can't be had
	Why   string   // what forbids it, as far as can be told
	Hints []string // what would allow it: commands, each with what it does
	Err   error    // the system call's; nil where none was made
}

func (r *Refusal) Error() string {
	text := r.What
	if r.Err != nil {
		text += ": " + r.Err.Error()
	}
	if r.Why != "" {
		text += ": " + r.Why
	}
	return text
}

func (r *Refusal) Unwrap() error { return r.Err }

// surroundings decide whether the kernel lets one process sample another.
type surroundings struct {
	program  string // this one, for commands
	paranoid int    // kernel.perf_event_paranoid
	perfmon  bool   // this process has CAP_PERFMON or CAP_SYS_ADMIN
	seccomp  bool   // a filter of system calls is on
	stranger bool   // the process belongs to somebody else
}

// Values of kernel.perf_event_paranoid above which something needs CAP_PERFMON.
const (
	paranoidKernel = 1 // the kernel's code, and context switches
	paranoidAll    = 2 // everything: Debian's, Ubuntu's and Android's kernels have 3 and 4
)

const (
	paranoidPath = "/proc/sys/kernel/perf_event_paranoid"
	kptrPath     = "/proc/sys/kernel/kptr_restrict"
)

// explain says why an event was refused.
func (s *surroundings) explain(what string, err error) *Refusal {
	r := &Refusal{What: what, Err: err}
	errno, _ := err.(syscall.Errno)
	switch errno {
	case syscall.EACCES, syscall.EPERM:
		s.explainPermission(r)
	case syscall.ENOSYS:
		r.Why = "this kernel, or the sandbox around this process, has no perf_event_open"
		r.Hints = []string{"a container can be started with: docker run --security-opt seccomp=unconfined --cap-add PERFMON"}
	case syscall.ENOENT, syscall.EOPNOTSUPP, syscall.ENODEV:
		r.Why = "this kernel was built without the clock event of perf_event"
	case syscall.EINVAL:
		r.Why = "this kernel is too old for what is asked for: leaving out children needs Linux 5.13"
	case syscall.EMFILE:
		r.Why = "each thread takes two open files for each processor"
		r.Hints = []string{"ulimit -n 1000000    # in this shell, then again"}
	case syscall.ENFILE:
		r.Why = "the machine has too many open files"
		r.Hints = []string{"sudo sysctl fs.file-max=10000000"}
	case syscall.ENOMEM:
		r.Why = "no memory is left for the kernel's buffers"
	}
	return r
}

// explainPermission names what may forbid it, the likeliest first.
func (s *surroundings) explainPermission(r *Refusal) {
	capable := fmt.Sprintf("sudo setcap cap_perfmon,cap_sys_ptrace,cap_syslog+ep %s    # for this program, from Linux 5.8 on", s.program)
	switch {
	case s.perfmon && s.seccomp:
		r.Why = "a filter of system calls (seccomp) is on, as in a container"
		r.Hints = []string{"docker run --security-opt seccomp=unconfined --cap-add PERFMON ..."}
	case s.perfmon:
		r.Why = "though this process has CAP_PERFMON: a security module (SELinux, lockdown) may forbid it"
		r.Hints = []string{"sudo dmesg | grep -i perf    # may say which"}
	case s.stranger:
		r.Why = "the process belongs to another user"
		r.Hints = []string{"run it as that user, or with sudo", capable}
	case s.paranoid > paranoidAll:
		r.Why = fmt.Sprintf("%s is %d, which leaves it to the privileged", paranoidPath, s.paranoid)
		r.Hints = []string{"sudo sysctl kernel.perf_event_paranoid=2    # one's own processes, until the next boot", capable}
	case s.seccomp:
		r.Why = "a filter of system calls (seccomp) is on, as in a container"
		r.Hints = []string{"docker run --security-opt seccomp=unconfined --cap-add PERFMON ..."}
	default:
		r.Why = "this process may not look into that one: it is privileged, or not dumpable"
		r.Hints = []string{"run it with sudo", capable}
	}
}

// explainKernel says why there is nothing of the kernel.
func (s *surroundings) explainKernel(what string, err error) *Refusal {
	r := &Refusal{What: what, Err: err}
	capable := fmt.Sprintf("sudo setcap cap_perfmon,cap_sys_ptrace,cap_syslog+ep %s    # for this program, from Linux 5.8 on", s.program)
	if s.paranoid > paranoidKernel {
		r.Why = fmt.Sprintf("%s is %d", paranoidPath, s.paranoid)
		r.Hints = []string{"sudo sysctl kernel.perf_event_paranoid=1    # for everybody, until the next boot", capable}
	} else {
		r.Hints = []string{capable}
	}
	return r
}

// explainNames says why functions of the kernel have no names.
func explainNames(restrict string) *Refusal {
	return &Refusal{
		What: "functions of the kernel have no names", Why: fmt.Sprintf("%s is %s and hides addresses in /proc/kallsyms", kptrPath, strings.TrimSpace(restrict)),
		Hints: []string{"sudo sysctl kernel.kptr_restrict=0    # until the next boot", "or run it with sudo: CAP_SYSLOG sees them while that is 1"},
	}
}

// explainMemory says why the kernel's buffer can't be mapped.
func explainMemory(err error) *Refusal {
	return &Refusal{
		What: "no memory for the kernel's records", Err: err, Why: "what a user may lock is used up, perhaps by others who sample",
		Hints: []string{"sudo sysctl kernel.perf_event_mlock_kb=2048", "ulimit -l unlimited    # where that is allowed"},
	}
}
