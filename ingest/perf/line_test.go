package perf

import (
	"fmt"
	"testing"
)

func TestFrameLines(t *testing.T) {
	for line, want := range map[string]string{
		"\t          401010 bar(int (*)(void))+0x10 (/bin/x)":                              "401010 bar(int (*)(void)) of /bin/x",
		"\t          401010 bar(int (*)(void)) (/bin/x)":                                   "401010 bar(int (*)(void)) of /bin/x",
		"\t          401010 std::function<void (int)>::operator()(int) const+0x1 (/b (1))": "401010 std::function<void (int)>::operator()(int) const of /b (1)",
		"\t          401010 f(int) (.cold)":                                                "401010 f(int) (.cold) of ",
		"\t          401010 f(int) (.cold) (/bin/x)":                                       "401010 f(int) (.cold) of /bin/x",
		"\t          401010 std::function<void (int)>":                                     "401010 std::function<void (int)> of ",
		"\t          401010 (anonymous namespace)::f+0x0 (/bin/x)":                         "401010 (anonymous namespace)::f of /bin/x",
		"\t          401010 (anonymous namespace)::f":                                      "401010 (anonymous namespace)::f of ",
		"\t          401010 [unknown] (/tmp/x (deleted))":                                  "401010  of /tmp/x (deleted)",
		"\t          401010 f (/tmp/a)b)":                                                  "401010 f of /tmp/a)b",
		"\t          401010 f (/tmp/a(b)":                                                  "401010 f of /tmp/a(b",
		"\t          401010 f+0x1 (/lib/x.so+0x401010)":                                    "401010 f of /lib/x.so", // -F dsoff
		"\t          401010 ([vdso])":                                                      "401010  of [vdso]",
		"\t          401010 ([unknown])":                                                   "401010  of ",
		"\t          401010":                                                               "401010  of ",
		"\t          401010 sum()+0x4 (inlined)":                                           "401010 sum() of  inlined",
		"\t                 sum (inlined)":                                                 "0 sum of  inlined",
		"\tffffffffc0100000 nft_do_chain+0x1 ([nf_tables])":                                "ffffffffc0100000 nft_do_chain of [nf_tables] kernel",
		"\t             7d8 tcp_sendmsg (/lib/modules/6.1/build/vmlinux)":                  "7d8 tcp_sendmsg of /lib/modules/6.1/build/vmlinux kernel",
		"\tmain.c:33":                 "",
		"\t00401010:\tinsn: 48 89 e5": "",
	} {
		got := ""
		if f, ok := parseFrame([]byte(line)); ok {
			got = fmt.Sprintf("%x %s of %s", f.address, f.symbol, f.file)
			if f.inlined {
				got += " inlined"
			}
			if f.isKernel() {
				got += " kernel"
			}
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}

// Heads hold names with spaces, digits, colons and slashes; perf script -F leaves out any
// part.
func TestHeads(t *testing.T) {
	for line, want := range map[string]string{
		"kworker/0:1-events 25607 4794564.109216: cycles: ":                               `"kworker/0:1-events" -1/25607 4794564109216000 -1 cycles ""`,
		"V8 Worker 12 24636/25607 [000] 94564.109216123:     257597 cycles:uppp: ":        `"V8 Worker 12" 24636/25607 94564109216123 257597 cycles:uppp ""`,
		"cpp  3697 [001] 2026-11-22 19:00:42.609787  1217.169106:    1001001 cpu-clock: ": `"cpp" -1/3697 1217169106000 1001001 cpu-clock ""`,
		"cpp 25278 K       963.449553:     333444 cpu-clock:pppH: ":                       `"cpp" -1/25278 963449553000 333444 cpu-clock:pppH ""`,
		":-1    -1 [001]   984.052990:     333444 cpu-clock: ":                            `":-1" -1/-1 984052990000 333444 cpu-clock ""`,
		"cpp [001]  1217.169106: cpu-clock:pppH: ":                                        `"cpp" -1/-1 1217169106000 -1 cpu-clock:pppH ""`,
		"sh 1 0.000005: ":                                                                `"sh" -1/1 5000 -1 untold event ""`,
		"sh 1 0.000005:         12 ":                                                     `"sh" -1/1 5000 12 untold event ""`,
		"sh 1 0.000005:           401010 f (int)":                                        `"sh" -1/1 5000 -1 untold event "401010 f (int)"`,
		"sh 1 0.000005:    1 page-faults:     7f5792b99000 data+0x2 (/b) ":               `"sh" -1/1 5000 1 page-faults "7f5792b99000 data+0x2 (/b) "`,
		"sh 1 0.000005:    1 cycles:                0     55bb17557f5a f+0x1a (/b)":      `"sh" -1/1 5000 1 cycles "55bb17557f5a f+0x1a (/b)"`,
		"sh 1 0.000005:    1 cycles:       1e05080021 |OP N/A|LVL N/A":                   `"sh" -1/1 5000 1 cycles ""`,
		"sh 1 0.000005: sched:sched_switch: prev_comm=sh prev_pid=1 ==> next_comm=a (b)": `"sh" -1/1 5000 -1 sched:sched_switch ""`,
		"sh 1/1 cycles: ":                  `untimed "sh" 1/1 0 -1 cycles ""`,
		"sh 1 [000]         12 cycles: ":   `untimed "sh" -1/1 0 12 cycles ""`,
		"1/2 cycles:             401010 f": `untimed "" 1/2 0 -1 cycles "401010 f"`,
		"odd line":                         ``,
		"at 10:00 it was 12 degrees":       ``,
	} {
		p, got := sampleLine{}, ""
		if p.parse([]byte(line)) {
			got = p.String()
		} else if p.parseUntimed([]byte(line)) {
			got = "untimed " + p.String()
		}
		if got != want {
			t.Errorf("%q: got %s, want %s", line, got, want)
		}
	}
}

func (p *sampleLine) String() string {
	return fmt.Sprintf("%q %d/%d %d %d %s %q", p.comm, p.pid, p.tid, p.time, p.period, p.event, p.frame)
}
