package attach

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// refusal turns an error of an event into what to do about it.
func (s *Sampler) refusal(err error, pid int) error {
	var mapping *os.SyscallError
	var errno syscall.Errno
	switch {
	case errors.Is(err, unix.ESRCH):
		return ErrEnded
	case errors.As(err, &mapping) && refused(err):
		return explainMemory(err)
	case errors.As(err, &errno):
		around := look(pid)
		return around.explain("the kernel does not let us sample it (perf_event_open)", errno)
	}
	return err
}

// Notes say what is missing although sampling goes on.
func (s *Sampler) Notes() (notes []*Refusal) { return s.notes }

// note collects the notes, for the first process.
func (s *Sampler) note(pid int) {
	around := look(pid)
	e := s.events
	if e.noKernel != nil {
		s.notes = append(s.notes, around.explainKernel("time in the kernel is not sampled, nor is where threads leave the processor", e.noKernel))
		return
	}
	if e.noStacks != nil {
		s.notes = append(s.notes, around.explainKernel("where threads leave the processor is not told", e.noStacks))
	}
	if !s.kernel.tells() {
		s.notes = append(s.notes, explainNames(readLine(kptrPath)))
	}
}

// noteChildren notes it where children that were begun before can't be found.
func (s *Sampler) noteChildren() {
	if _, err := os.Stat(fmt.Sprintf("/proc/self/task/%d/children", os.Getpid())); err != nil {
		s.notes = append(s.notes, &Refusal{What: "processes that were begun before are not sampled", Why: "this kernel was built without CONFIG_PROC_CHILDREN", Hints: []string{"give each with -p"}})
	}
}

// look finds the surroundings of a process.
func look(pid int) *surroundings {
	s := &surroundings{program: "gprof-record"}
	if exe, err := os.Executable(); err == nil {
		s.program = exe
	}
	s.paranoid, _ = strconv.Atoi(readLine(paranoidPath)) // 0 forbids nothing
	status := readStatus("self")
	effective, _ := strconv.ParseUint(status["CapEff"], 16, 64)
	s.perfmon = effective&(1<<unix.CAP_PERFMON|1<<unix.CAP_SYS_ADMIN) != 0
	s.seccomp = status["Seccomp"] == "2"
	own, other := strings.Fields(status["Uid"]), strings.Fields(readStatus(strconv.Itoa(pid))["Uid"])
	s.stranger = len(own) > 1 && len(other) > 1 && own[1] != other[1]
	return s
}

// readStatus is /proc/pid/status by its keys.
func readStatus(pid string) map[string]string {
	fields := map[string]string{}
	for line := range strings.Lines(readLine(fmt.Sprintf("/proc/%s/status", pid))) {
		if key, value, ok := strings.Cut(line, ":"); ok {
			fields[key] = strings.TrimSpace(value)
		}
	}
	return fields
}
