package recorder

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"gprof/chunks/folder"
	"gprof/chunks/session"
	"gprof/rawformat"
	"gprof/recorder/internal/counters"
	"gprof/recorder/internal/machine"
	"gprof/recorder/internal/record"
	"gprof/recorder/internal/rt"
	"gprof/recorder/internal/shard"
)

// identity says what program this process runs.
type identity struct {
	service, version   string
	revision, modified string // of the source tree; modified is "true" if it differs from the revision
	module             string
	slowedBy           []string // parts of the build that cost time
	exe                string
}

// identify fills in what neither options nor environment say.
func identify(o *Options) identity {
	id := identity{service: o.Service, version: o.Version}
	exe, err := os.Executable()
	if err != nil {
		exe = os.Args[0]
	}
	id.exe = exe
	id.service = cmp.Or(id.service, strings.TrimSuffix(filepath.Base(exe), ".exe"))
	if info, ok := debug.ReadBuildInfo(); ok {
		id.revision, id.modified = setting(info, "vcs.revision"), setting(info, "vcs.modified")
		id.module, id.slowedBy = info.Main.Path, slowedBy(info)
		if info.Main.Version != "(devel)" {
			id.version = cmp.Or(id.version, info.Main.Version)
		}
	}
	return id
}

// slowedBy lists the parts of a build that change its times, such as the race detector.
func slowedBy(info *debug.BuildInfo) (what []string) {
	for _, flag := range []string{"race", "msan", "asan", "cover"} {
		if setting(info, "-"+flag) == "true" {
			what = append(what, flag)
		}
	}
	return what
}

func setting(info *debug.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// records are those of the meta file: what records, where and since when, what was asked for, and what came of it.
type records [][]byte

func (rs *records) add(key string, value any) {
	if text := fmt.Sprint(value); text != "" {
		*rs = append(*rs, record.New(rawformat.KindMeta).Text(key).Text(text))
	}
}

// beginning is what meta says at first, which must suffice if the program is killed at once. Nothing in it takes long to find out.
func (p *plan) beginning(r *Recorder) (rs records) {
	p.metaProgram(rs.add)
	metaClock(r.rec, rs.add)
	rs.add(rawformat.MetaChunkSize, r.keeper.ChunkSize())
	rs.add(rawformat.MetaLimit, r.keeper.Limit())
	rs.add(rawformat.MetaKeep, p.Keep.Nanoseconds())
	if p.sampled = r.keeper.Chosen(); p.sampled {
		p.metaSampling(r, rs.add)
	}
	return rs
}

// settled is what meta says besides, when all is known.
func (p *plan) settled(r *Recorder) (rs records) {
	p.metaMachine(rs.add)
	if !p.sampled {
		p.metaSampling(r, rs.add)
	}
	p.metaSettings(r, rs.add)
	p.metaTests(r, rs.add)
	r.metaRange(rs.add)
	return rs
}

func (p *plan) metaProgram(add func(string, any)) {
	add(rawformat.MetaService, p.id.service)
	add(rawformat.MetaVersion, p.id.version)
	add(rawformat.MetaRevision, p.id.revision)
	add(rawformat.MetaModified, p.id.modified)
	add(rawformat.MetaModule, p.id.module)
	for _, what := range p.id.slowedBy {
		add(rawformat.MetaSlowed, what)
	}
	for _, key := range slices.Sorted(maps.Keys(p.Attrs)) {
		add(rawformat.MetaAttr+key, p.Attrs[key])
	}
	add(rawformat.MetaPid, os.Getpid())
	if p.parent != 0 {
		add(rawformat.MetaParent, folder.InstanceName(p.parent))
		if index, ok := session.IndexNow(p.session, p.parent); ok {
			add(rawformat.MetaParentIdx, index)
		}
	}
	add(rawformat.MetaExe, p.id.exe)
	for _, a := range os.Args {
		add(rawformat.MetaArg, a)
	}
	add(rawformat.MetaGo, runtime.Version())
	add(rawformat.MetaGoos, runtime.GOOS)
	add(rawformat.MetaGoarch, runtime.GOARCH)
	add(rawformat.MetaCPUs, runtime.GOMAXPROCS(0))
}

func metaClock(rec *shard.Recording, add func(string, any)) {
	clock := rec.Clock()
	start := clock.Anchor()
	if origin := rec.Origin(); origin < rec.Begun() {
		ago := rt.Now() - origin
		start.Monotonic -= uint64(ago)
		start.Realtime -= int64(ago)
	}
	add(rawformat.MetaStartReal, start.Realtime)
	add(rawformat.MetaStartMono, start.Monotonic)
	add(rawformat.MetaTimeBase, clock.Base)
	add(rawformat.MetaClock, clock.Describe())
}

func (p *plan) metaSampling(r *Recorder, add func(string, any)) {
	add(rawformat.MetaCPU, r.cpu)
	add(rawformat.MetaInterval, r.keeper.SamplePeriod())
}

func (p *plan) metaSettings(r *Recorder, add func(string, any)) {
	if p.HeapEvery > 0 {
		add(rawformat.MetaHeapRate, r.keeper.HeapRate())
	}
	add(rawformat.MetaCounterHz, max(0, p.CounterHz))
	for _, name := range r.features.names() {
		add(rawformat.MetaFeature, name)
	}
	for _, pattern := range p.Tracks {
		add(rawformat.MetaTracks, pattern)
	}
}

// metaTests says which ways of recording are in use, and why others are not.
func (p *plan) metaTests(r *Recorder, add func(string, any)) {
	for _, what := range p.ignored {
		add(rawformat.MetaSelfTest+"environment", "ignored: "+what)
	}
	add(rawformat.MetaSelfTest+"bounds", strings.Join(p.bounded, "; "))
	add(rawformat.MetaSelfTest+"features", r.features.describe())
	add(rawformat.MetaSelfTest+"tracks", strings.Join(p.Tracks, ", "))
	add(rawformat.MetaSelfTest+"cpu", r.cpuTest)
	r.keeper.Describe(func(what, text string) { add(rawformat.MetaSelfTest+what, text) })
	add(rawformat.MetaSelfTest+"runtime", rt.Runtime())
	add(rawformat.MetaSelfTest+"clock", r.rec.Clock().Test())
	add(rawformat.MetaSelfTest+"faults", r.rec.TestFaults())
	add(rawformat.MetaSelfTest+"writers", r.rec.TestWriters())
	add(rawformat.MetaSelfTest+"goroutines", r.rec.TestGoroutines())
	add(rawformat.MetaSelfTest+"stacks", r.rec.TestStacks())
}

// metaMachine says where the program runs, which takes many system calls.
func (p *plan) metaMachine(add func(string, any)) {
	host, _ := os.Hostname() // if it fails, add leaves out ""
	add(rawformat.MetaHost, host)
	add(rawformat.MetaBootID, bootID())
	add(rawformat.MetaNamespaces, namespace())
	add(rawformat.MetaCPUName, machine.CPUName())
	if n := machine.Cores(); n > 0 {
		add(rawformat.MetaCores, n)
	}
	if limit := counters.MemoryLimit(); limit > 0 {
		add(rawformat.MetaMemory, limit)
	}
}

// metaRange says what was discarded, as the ring does where no header of a chunk can, see [chunks.NoteRange].
func (r *Recorder) metaRange(add func(string, any)) {
	ring := r.keeper.Ring()
	start := ring.RangeStart() // read first: a discard from now on may raise it
	if n := ring.Discarded(); n > 0 {
		add(rawformat.MetaRangeStart, start)
		add(rawformat.MetaDiscarded, n)
	}
}

// bootID tells machines and boots apart; "" where the system has no such id.
func bootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// namespace identifies the pid namespace of the process; "" where there is none.
func namespace() string {
	link, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return link
}
