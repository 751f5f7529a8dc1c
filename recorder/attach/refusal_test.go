package attach

import (
	"strings"
	"syscall"
	"testing"
)

func TestExplain(t *testing.T) {
	for _, tt := range []struct {
		name      string
		around    surroundings
		err       syscall.Errno
		why, hint string
	}{
		{"Debian", surroundings{paranoid: 3}, syscall.EACCES, "perf_event_paranoid is 3", "sysctl kernel.perf_event_paranoid=2"},
		{"Debian, capability", surroundings{program: "/bin/r", paranoid: 3}, syscall.EACCES, "", "setcap cap_perfmon,cap_sys_ptrace,cap_syslog+ep /bin/r"},
		{"another user's", surroundings{paranoid: 2, stranger: true}, syscall.EACCES, "another user", "sudo"},
		{"container", surroundings{paranoid: 2, seccomp: true}, syscall.EPERM, "seccomp", "--cap-add PERFMON"},
		{"root in a container", surroundings{paranoid: 2, seccomp: true, perfmon: true}, syscall.EPERM, "seccomp", "seccomp=unconfined"},
		{"lockdown", surroundings{perfmon: true}, syscall.EPERM, "security module", "dmesg"},
		{"not dumpable", surroundings{paranoid: 2}, syscall.EACCES, "dumpable", "sudo"},
		{"gVisor", surroundings{}, syscall.ENOSYS, "no perf_event_open", "docker"},
		{"many threads", surroundings{}, syscall.EMFILE, "open files", "ulimit -n"},
		{"no event", surroundings{}, syscall.ENOENT, "built without", ""},
	} {
		r := tt.around.explain("not sampled", tt.err)
		hints := strings.Join(r.Hints, "\n")
		if !strings.Contains(r.Why, tt.why) || !strings.Contains(hints, tt.hint) {
			t.Errorf("%s: %v; %s", tt.name, r, hints)
		}
		if !strings.HasPrefix(r.Error(), "not sampled: "+tt.err.Error()) || r.Unwrap() != error(tt.err) {
			t.Errorf("%s: %v", tt.name, r)
		}
	}
}

func TestExplainKernel(t *testing.T) {
	strict, lax := surroundings{paranoid: 2}, surroundings{paranoid: 1}
	if r := strict.explainKernel("no frames", syscall.EACCES); !strings.Contains(r.Error(), "is 2") || !strings.Contains(r.Hints[0], "paranoid=1") {
		t.Errorf("%v: %q", r, r.Hints)
	}
	if r := lax.explainKernel("no frames", syscall.EACCES); len(r.Hints) != 1 || !strings.Contains(r.Hints[0], "setcap") {
		t.Errorf("%v: %q", r, r.Hints)
	}
	if r := explainNames("1\n"); !strings.Contains(r.Error(), "kptr_restrict is 1 ") {
		t.Error(r)
	}
	if r := explainMemory(syscall.EPERM); !strings.Contains(r.Hints[0], "mlock_kb") {
		t.Errorf("%v: %q", r, r.Hints)
	}
}
