package attach

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"gprof/chunks/folder"
	"gprof/chunks/session"
	"gprof/rawformat"
	"gprof/recorder/internal/record"
)

// meta is the content of the meta file about the process and how it is sampled.
func (s *Sampler) meta(p *process, r *recording) (records [][]byte) {
	add := func(key string, value any) {
		if text := fmt.Sprint(value); text != "" {
			records = append(records, record.New(rawformat.KindMeta).Text(key).Text(text))
		}
	}
	add(rawformat.MetaSampler, "perf_event")
	add(rawformat.MetaService, cmp.Or(s.o.Service, p.base()))
	add(rawformat.MetaPid, p.pid)
	if inner := innerPid(p.pid); inner != p.pid {
		add(rawformat.MetaInnerPid, inner)
	}
	if r.parent != 0 {
		add(rawformat.MetaParent, folder.InstanceName(r.parent))
		if index, ok := session.IndexNow(s.o.Session, r.parent); ok {
			add(rawformat.MetaParentIdx, index)
		}
	}
	host, _ := os.Hostname() // "" is left out
	add(rawformat.MetaHost, host)
	add(rawformat.MetaBootID, readLine("/proc/sys/kernel/random/boot_id"))
	add(rawformat.MetaExe, p.program())
	if p.argv == nil {
		p.argv = p.args()
	}
	for _, arg := range p.argv {
		add(rawformat.MetaArg, arg)
	}
	add(rawformat.MetaGoos, runtime.GOOS)
	add(rawformat.MetaGoarch, runtime.GOARCH)
	add(rawformat.MetaCPUs, len(s.events.taps))
	namespace, _ := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", p.pid)) // likewise
	add(rawformat.MetaNamespaces, namespace)
	begun := p.begun
	if begun.Monotonic == 0 {
		begun = anchor()
	}
	add(rawformat.MetaStartReal, begun.Realtime)
	add(rawformat.MetaStartMono, begun.Monotonic)
	add(rawformat.MetaClock, "CLOCK_MONOTONIC by perf_event")
	add(rawformat.MetaLimit, s.control.Limit())
	add(rawformat.MetaChunkSize, chunkFile)
	add(rawformat.MetaKeep, keep.Nanoseconds())
	add(rawformat.MetaCPU, "perf_event cpu-clock, from outside")
	add(rawformat.MetaInterval, s.o.period().Nanoseconds())
	for _, t := range s.events.describe() {
		add(rawformat.MetaSelfTest+t.what, t.result)
	}
	return records
}

// args are the arguments of the process, nil if they can't be read.
func (p *process) args() []string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.pid))
	if err != nil || len(b) == 0 || len(b) > maxArgs {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00")
}

// maxArgs bounds the bytes of arguments that are recorded: a meta file is bounded, too.
const maxArgs = 64 << 10

// innerPid is the pid of a process in its own namespace.
func innerPid(pid int32) int32 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return pid
	}
	for line := range strings.Lines(string(status)) {
		if all, ok := strings.CutPrefix(line, "NSpid:"); ok {
			fields := strings.Fields(all)
			if n, err := strconv.ParseInt(fields[max(0, len(fields)-1)], 10, 32); err == nil {
				return int32(n)
			}
		}
	}
	return pid
}

// readLine is the content of a small file, "" if it can't be read.
func readLine(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
