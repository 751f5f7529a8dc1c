package gecko

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gprof/ingest/internal/jsonfile"
	"gprof/stream"
)

// clock names the source of a profile's times.
const clock = "startTime of the profile"

// describe fills in the row of a process. seed is its instance, unless the file names one.
func (l *layout) describe(x *process, seed uint64) {
	start, known := x.object("meta").time("startTime")
	if !known {
		start, known = l.root.object("meta").time("startTime")
	}
	if start < 0 {
		x.object("meta").at("startTime").note(stream.ReasonImpossible)
		start, known = 0, false
	}
	l.file.zero = int64(start)
	if x.zero = start; known {
		x.row.Clock = stream.Clock{By: clock, Pieces: 1, Uncertainty: -1, Anchors: 1, First: start, Last: start, Monotonic: l.monotonic(x)}
	}
	x.row.Instance = seed
	x.row.Pid = int(number(x.pid))
	l.describeThreads(x)
	if x.about.v != nil {
		l.describeOurs(x)
	} else {
		l.describeOther(x)
	}
	if ns, ok := l.root.object("meta").time("interval"); ok {
		x.row.Interval = int64(ns)
	}
	machine := func(key string) part { return l.machine(x, key) }
	x.row.OS, x.row.Arch = machine("platform").text("platform"), machine("abi").text("abi")
	if x.row.End != 0 && x.row.End < x.row.Start {
		x.row.End = x.row.Start
		x.object("meta").note(stream.ReasonImpossible)
	}
	x.row.CPUs = int(machine("logicalCPUs").count("logicalCPUs"))
	if x.about.v == nil {
		x.row.CPUName, x.row.Cores = machine("CPUName").text("CPUName"), int(machine("physicalCPUs").count("physicalCPUs"))
		l.describeSettings(x, machine("configuration").object("configuration"))
	}
}

// machine is the meta that has key: the process's, else the profile's.
func (l *layout) machine(x *process, key string) part {
	if meta := x.object("meta"); meta.at(key).v != nil {
		return meta
	}
	return l.root.object("meta")
}

// monotonicKeys are the members for the monotonic clock at startTime, in ns.
var monotonicKeys = []string{"startTimeAsClockMonotonicNanosecondsSinceBoot", "startTimeAsMachAbsoluteTimeNanoseconds"}

// monotonic is that reading, 0 if unknown. In a processed profile it is the first process's.
func (l *layout) monotonic(x *process) (ns int64) {
	if x.v == l.root.v && x != l.processes[0] {
		return 0
	}
	for _, key := range monotonicKeys {
		ns = max(ns, x.object("meta").count(key))
	}
	return ns
}

// entrySize is the unit of capacities, in bytes.
const entrySize = 8

// describeSettings fills in the profiler's settings.
func (l *layout) describeSettings(x *process, configuration part) {
	to := &x.row.Settings
	configuration.texts("features", &to.Features)
	configuration.texts("threads", &to.Tracks)
	capacity := configuration.count("capacity")
	if to.Limit = min(capacity, math.MaxInt64/entrySize) * entrySize; to.Limit/entrySize != capacity {
		configuration.at("capacity").note(stream.ReasonImpossible)
	}
}

// describeThreads names the tracks of the threads and picks the main one.
func (l *layout) describeThreads(x *process) {
	main := false
	for _, t := range x.threads {
		t.track.Name = t.text("name")
		t.track.Thread = t.tid()
		t.track.Main = !main && t.isMain()
		main = main || t.track.Main
		if at, ok := t.time("registerTime"); ok && at != 0 {
			t.track.Start = x.zero + at
		}
		if at, ok := t.time("unregisterTime"); ok {
			t.track.End = x.zero + at
		}
		if t.track.End != 0 && t.track.End < t.track.Start {
			t.track.End = t.track.Start
			t.at("unregisterTime").note(stream.ReasonImpossible)
		}
	}
	tellApart(x.threads)
}

// tid is the thread's number, which may be a string. Of "12.1" it is 12.
func (t *thread) tid() int64 {
	text := t.plain("tid")
	n := number(text)
	if text != "" && !strings.HasPrefix(text, strconv.FormatInt(n, 10)) {
		t.at("tid").note(stream.ReasonMalformed)
	}
	return n
}

// isMain reports whether a thread is its process's main one: by a flag in processed profiles, else
// by its name, which early Gecko 3 set by the process type.
func (t *thread) isMain() bool {
	if t.at("isMainThread").is(jsonfile.Bool) {
		return t.truth("isMainThread")
	}
	return t.track.Name == "GeckoMain" || t.track.Name == "Content" && t.at("processType").v == nil
}

// tellApart renames threads whose tracks would be equal.
func tellApart(threads []*thread) {
	known := map[stream.Track]bool{}
	next := map[stream.Track]int{} // number for the next one that is like it
	for _, t := range threads {
		like, name := t.track, t.track.Name
		if known[like] {
			t.track.Name = name + " (" + strconv.FormatInt(t.track.Thread, 10) + ")"
		}
		for known[t.track] {
			next[like] = max(2, next[like]+1)
			t.track.Name = name + " (" + strconv.Itoa(next[like]) + ")"
		}
		known[t.track] = true
	}
}

// describeOurs takes what one of our sinks wrote about a process.
func (l *layout) describeOurs(x *process) {
	text := x.about.text
	x.row.Instance = x.about.parsed("instance", 16, x.row.Instance)
	for _, m := range []struct {
		key string
		to  *string
	}{
		{"name", &x.row.Name}, {"service", &x.row.Service}, {"version", &x.row.Version}, {"revision", &x.row.Revision},
		{"host", &x.row.Host}, {"exe", &x.row.Exe}, {"go", &x.row.Go}, {"cpu", &x.row.CPU},
		{"module", &x.row.Module}, {"cpuName", &x.row.CPUName},
	} {
		*m.to = text(m.key)
	}
	if n, ok := x.about.integer("pid"); ok {
		x.row.Pid = int(n)
	}
	x.row.RangeStart = x.about.parsed("rangeStart", 10, 0)
	l.oursBuild(x)
	x.about.each("attrs", func(raw []byte, off int64) {
		pair, _ := jsonfile.Elements(nil, raw)
		if len(pair) != 2 || pair[0][0] != '"' || pair[1][0] != '"' {
			l.file.notes.add(stream.ReasonMalformed, join(x.about.of, "attrs"), off)
			return
		}
		x.row.Attrs = append(x.row.Attrs, stream.Attr{Key: string(jsonfile.AppendText(nil, pair[0])), Value: string(jsonfile.AppendText(nil, pair[1]))})
	})
	if e := x.about.object("exit"); e.v != nil {
		code, _ := e.integer("code")
		x.row.Exit = stream.Exit{Known: true, Reason: e.text("reason"), Code: code, Text: e.text("text")}
	}
	l.parentOf(x, text("parent"))
	l.oursLived(x)
}

// oursBuild takes how a process of ours was built, and what recorded it.
func (l *layout) oursBuild(x *process) {
	for _, m := range []struct {
		key string
		to  *[]string
	}{
		{"args", &x.row.Args}, {"slowedBy", &x.row.SlowedBy}, {"features", &x.row.Settings.Features}, {"trackFilter", &x.row.Settings.Tracks},
	} {
		x.about.texts(m.key, m.to)
	}
	x.row.Modified = x.about.truth("modified")
	x.row.Settings.Limit, x.row.Cores = x.about.count("limit"), int(x.about.count("cores"))
}

// parentOf finds the parent by its instance. In Gecko profiles of ours all processes are nested in
// the first.
func (l *layout) parentOf(x *process, instance string) {
	x.row.Parent = 0
	for i, other := range l.processes {
		if instance != "" && other.about.text("instance") == instance {
			x.row.Parent = stream.ProcessID(i + 1)
		}
	}
	if instance != "" && x.row.Parent == 0 {
		x.about.at("parent").note(stream.ReasonImpossible)
	}
}

// parsed is a number that is written as a string, because it may be too large for JSON readers.
func (p part) parsed(key string, base int, otherwise uint64) uint64 {
	text := p.plain(key)
	n, err := strconv.ParseUint(text, base, 64)
	if err == nil {
		return n
	}
	if text != "" {
		p.at(key).note(stream.ReasonMalformed)
	}
	return otherwise
}

// oursLived takes when a process of ours was recorded.
func (l *layout) oursLived(x *process) {
	moment := func(key string) stream.Time {
		text := x.about.text(key)
		n, ok := jsonfile.Int([]byte(text))
		if !ok && text != "" {
			x.about.at(key).note(stream.ReasonMalformed)
		}
		return stream.Time(n)
	}
	x.row.Start, x.row.End, x.row.Earliest = moment("start"), moment("end"), moment("earliest")
	for _, t := range x.threads { // as the process is not told
		if t.track.Start == x.row.Start {
			t.track.Start = 0
		}
		if t.track.End == x.row.End && x.row.Exit.Known {
			t.track.End = 0
		}
		if t.track.Main {
			t.track.Name = x.row.Name
		}
	}
}

// about are the members of meta that are read elsewhere.
var about = []string{
	"startTime", "interval", "version", "preprocessedProfileVersion", "categories", "markerSchema", "sampleUnits", "platform", "abi",
	"logicalCPUs", "physicalCPUs", "CPUName", "gprof", "profilingStartTime", "profilingEndTime", "shutdownTime", "symbolicated", "presymbolicated", "endTime",
	"initialVisibleThreads", "initialSelectedThreads", "keepProfileThreadOrder", "symbolicationNotSupported",
	"contentEarliestTime", monotonicKeys[0], monotonicKeys[1],
	"usesOnlyOneStackType", "sourceCodeIsNotOnSearchfox", "debug", "stackwalk", "gcpoison", "asyncstack", "processType",
}

// release matches the version of Firefox in the build description.
var release = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^rv:([0-9.]+)`) })

// describeOther takes what Firefox, or another tool, says about a process.
func (l *layout) describeOther(x *process) {
	meta := x.object("meta")
	name := ""
	if len(x.threads) > 0 {
		name = x.threads[0].text("processName")
	}
	x.row.Name = name
	if first := x == l.processes[0]; first || name == "" {
		x.row.Name = cmp.Or(l.root.object("meta").text("product"), name, "profile")
		if m := release().FindStringSubmatch(meta.text("misc")); first && m != nil {
			x.row.Version = m[1]
		}
		if name != "" && name != x.row.Name {
			x.row.Attrs = append(x.row.Attrs, stream.Attr{Key: "processName", Value: name})
		}
	}
	l.describeSite(x)
	if strconv.Itoa(x.row.Pid) != x.pid && x.pid != "" {
		x.row.Attrs = append(x.row.Attrs, stream.Attr{Key: "pid", Value: x.pid})
	}
	if x == l.processes[0] || x.v != l.root.v {
		l.attributes(x, meta)
	}
	l.otherLived(x)
}

// siteKeys are what a browser's threads say of the pages their process shows.
var siteKeys = []string{"eTLD+1", "isPrivateBrowsing", "userContextId"}

// describeSite takes that from the first thread; all say the same.
func (l *layout) describeSite(x *process) {
	for _, key := range siteKeys {
		if len(x.threads) == 0 {
			return
		}
		if value := x.threads[0].plain(key); value != "" {
			x.row.Attrs = append(x.row.Attrs, stream.Attr{Key: key, Value: value})
		}
	}
}

// attributes keeps whatever else meta says.
func (l *layout) attributes(x *process, meta part) {
	for _, m := range meta.v.Members() {
		if slices.Contains(about, m.Key) || m.Kind == jsonfile.Null {
			continue
		}
		value := strings.TrimSpace(string(l.file.raw(&m.Value)))
		if m.Kind == jsonfile.String {
			value = l.file.text(&m.Value)
		}
		if value != "" {
			x.row.Attrs = append(x.row.Attrs, stream.Attr{Key: m.Key, Value: value})
		}
	}
}

// otherLived takes when a process was recorded: while the profiler ran, or from its first row on.
func (l *layout) otherLived(x *process) {
	meta, zero := l.root.object("meta"), x.zero
	if outer, ok := meta.time("startTime"); ok {
		zero = max(0, outer)
		l.file.zero = max(l.file.zero, int64(zero))
	}
	start, known := meta.time("profilingStartTime")
	if x.row.Start = zero + start; !known {
		x.row.Start = x.zero + l.firstRow(x)
	}
	for _, t := range x.threads {
		if t.track.Main && t.track.Start > x.row.Start && known {
			x.row.Start = t.track.Start // it began while the profiler ran
		}
	}
	if end, ok := meta.time("profilingEndTime"); ok && end > start {
		x.row.End = zero + end - 1 // the viewer's ranges don't hold their end
	} else if ok && end != 0 {
		meta.at("profilingEndTime").note(stream.ReasonImpossible)
	}
	if at, ok := x.object("meta").time("contentEarliestTime"); ok && !l.processed() {
		x.row.Earliest = x.zero + at
	}
	end, ok := x.object("meta").time("shutdownTime")
	if l.processed() && len(x.threads) > 0 {
		end, ok = x.threads[0].time("processShutdownTime")
	}
	if ok {
		x.row.End = x.zero + end
		x.row.Exit = stream.Exit{Known: true, Reason: "shut down"}
	}
}

// firstRow is the earliest first sample of all threads; markers are unordered.
func (l *layout) firstRow(x *process) (first stream.Time) {
	known := false
	for _, t := range x.threads {
		rows := t.table("samples", "time", "timeDeltas")
		if !rows.next() {
			continue
		}
		for column := range 2 {
			if at, ok := rows.nanos(column); ok && (!known || stream.Time(at) < first) {
				first, known = stream.Time(at), true
			}
		}
	}
	return first
}
