package gecko

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gprof/ingest/internal/jsonfile"
	"gprof/stream"
)

// clock is what places the times of a profile.
const clock = "startTime of the profile"

// describe fills in the row of a process. seed is its instance, unless the file
// tells one.
func (l *layout) describe(x *process, seed uint64) {
	meta := x.value.Get("meta")
	start, known := time(cmp.Or(meta.Get("startTime"), l.root.Get("meta", "startTime")))
	if x.zero = start; known {
		x.row.Clock = stream.Clock{By: clock, Pieces: 1, Uncertainty: -1, Anchors: 1, First: start, Last: start, Monotonic: l.monotonic(x)}
	}
	x.row.Instance = seed
	x.row.Pid = int(number(x.pid))
	l.describeThreads(x)
	if x.about != nil {
		l.describeOurs(x)
	} else {
		l.describeOther(x)
	}
	if ns, ok := time(l.root.Get("meta", "interval")); ok {
		x.row.Interval = int64(ns)
	}
	machine := func(key string) *jsonfile.Value { return cmp.Or(meta.Get(key), l.root.Get("meta", key)) }
	x.row.OS, x.row.Arch = l.file.text(machine("platform")), l.file.text(machine("abi"))
	if x.row.End != 0 {
		x.row.End = max(x.row.Start, x.row.End)
	}
	x.row.CPUs = int(l.integer(machine("logicalCPUs")))
	if x.about == nil {
		x.row.CPUName, x.row.Cores = l.file.text(machine("CPUName")), int(l.integer(machine("physicalCPUs")))
		l.describeSettings(x, machine("configuration"))
	}
}

// monotonicKeys are what a profile calls the reading of the monotonic clock at its
// startTime, in ns.
var monotonicKeys = []string{"startTimeAsClockMonotonicNanosecondsSinceBoot", "startTimeAsMachAbsoluteTimeNanoseconds"}

// monotonic is that reading, 0 if it is not told. In a processed profile it is that of the
// first process.
func (l *layout) monotonic(x *process) (ns int64) {
	if x.value == l.root && x != l.processes[0] {
		return 0
	}
	for _, key := range monotonicKeys {
		ns = max(ns, l.integer(x.value.Get("meta", key)))
	}
	return ns
}

// integer is a whole number, 0 if there is none.
func (l *layout) integer(v *jsonfile.Value) int64 {
	n, _ := jsonfile.Int(l.file.raw(v))
	return max(0, n)
}

// entrySize is the unit of capacities.
const entrySize = 8

// describeSettings is what the profiler was started with.
func (l *layout) describeSettings(x *process, configuration *jsonfile.Value) {
	to := &x.row.Settings
	l.texts(configuration.Get("features"), &to.Features)
	l.texts(configuration.Get("threads"), &to.Tracks)
	to.Limit = min(l.integer(configuration.Get("capacity")), math.MaxInt64/entrySize) * entrySize
}

// texts appends the elements of a list of strings.
func (l *layout) texts(v *jsonfile.Value, to *[]string) {
	l.file.each(v, func(raw []byte) { *to = append(*to, string(jsonfile.AppendText(nil, raw))) })
}

// describeThreads names the tracks of the threads. The first that is the main
// one is.
func (l *layout) describeThreads(x *process) {
	main := false
	for _, t := range x.threads {
		t.track.Name = l.file.text(t.value.Get("name"))
		t.track.Thread = number(l.file.plain(t.value.Get("tid")))
		t.track.Main = !main && t.isMain()
		main = main || t.track.Main
		if at, ok := time(t.value.Get("registerTime")); ok && at != 0 {
			t.track.Start = x.zero + at
		}
		if at, ok := time(t.value.Get("unregisterTime")); ok {
			t.track.End = x.zero + at
		}
	}
	tellApart(x.threads)
}

// isMain reports whether a thread is the main one of its process: as a processed profile
// says, or by its name, which the first of Gecko 3 told by the type of the process.
func (t *thread) isMain() bool {
	if is := t.value.Get("isMainThread"); is != nil {
		return string(is.Raw) == "true"
	}
	return t.track.Name == "GeckoMain" || t.track.Name == "Content" && t.value.Get("processType") == nil
}

// tellApart gives threads that are alike in all that a track has other names.
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

// describeOurs is what a sink of ours wrote about a process.
func (l *layout) describeOurs(x *process) {
	text := func(key string) string { return l.file.text(x.about.Get(key)) }
	if n, err := strconv.ParseUint(text("instance"), 16, 64); err == nil {
		x.row.Instance = n
	}
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
	if n, ok := jsonfile.Int(l.file.raw(x.about.Get("pid"))); ok {
		x.row.Pid = int(n)
	}
	n, _ := strconv.ParseUint(string(l.file.raw(x.about.Get("rangeStart"))), 10, 64)
	x.row.RangeStart = n
	l.oursBuild(x)
	l.file.each(x.about.Get("attrs"), func(raw []byte) {
		if pair := elements(raw); len(pair) == 2 {
			x.row.Attrs = append(x.row.Attrs, stream.Attr{Key: string(jsonfile.AppendText(nil, pair[0])), Value: string(jsonfile.AppendText(nil, pair[1]))})
		}
	})
	if e := x.about.Get("exit"); e != nil {
		code, _ := jsonfile.Int(l.file.raw(e.Get("code")))
		x.row.Exit = stream.Exit{Known: true, Reason: l.file.text(e.Get("reason")), Code: code, Text: l.file.text(e.Get("text"))}
	}
	l.parentOf(x, text("parent"))
	l.oursLived(x)
}

// oursBuild is what a process of ours was built from, and what recorded it.
func (l *layout) oursBuild(x *process) {
	for _, m := range []struct {
		key string
		to  *[]string
	}{
		{"args", &x.row.Args}, {"slowedBy", &x.row.SlowedBy}, {"features", &x.row.Settings.Features}, {"trackFilter", &x.row.Settings.Tracks},
	} {
		l.texts(x.about.Get(m.key), m.to)
	}
	integer := func(key string) int64 { return l.integer(x.about.Get(key)) }
	x.row.Modified = string(l.file.raw(x.about.Get("modified"))) == "true"
	x.row.Settings.Limit, x.row.Cores = integer("limit"), int(integer("cores"))
}

// parentOf finds the parent of a process by its instance. In a Gecko profile of
// ours all lie in the first.
func (l *layout) parentOf(x *process, instance string) {
	x.row.Parent = 0
	for i, other := range l.processes {
		if instance != "" && l.file.text(other.about.Get("instance")) == instance {
			x.row.Parent = stream.ProcessID(i + 1)
		}
	}
}

// oursLived is when a process of ours was recorded.
func (l *layout) oursLived(x *process) {
	moment := func(key string) stream.Time {
		n, _ := jsonfile.Int([]byte(l.file.text(x.about.Get(key))))
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

// about are the members of meta that have a place in a row, or are read where
// they are needed.
var about = []string{
	"startTime", "interval", "version", "preprocessedProfileVersion", "categories", "markerSchema", "sampleUnits", "platform", "abi",
	"logicalCPUs", "physicalCPUs", "CPUName", "gprof", "profilingStartTime", "profilingEndTime", "shutdownTime", "symbolicated", "presymbolicated", "endTime",
	"initialVisibleThreads", "initialSelectedThreads", "keepProfileThreadOrder", "symbolicationNotSupported",
	"contentEarliestTime", monotonicKeys[0], monotonicKeys[1],
	"usesOnlyOneStackType", "sourceCodeIsNotOnSearchfox", "debug", "stackwalk", "gcpoison", "asyncstack", "processType",
}

// release is the version of Firefox in the text about its build.
var release = regexp.MustCompile(`^rv:([0-9.]+)`)

// describeOther is what Firefox, or another tool, says about a process.
func (l *layout) describeOther(x *process) {
	meta := x.value.Get("meta")
	name := ""
	if len(x.threads) > 0 {
		name = l.file.text(x.threads[0].value.Get("processName"))
	}
	x.row.Name = name
	if first := x == l.processes[0]; first || name == "" {
		x.row.Name = cmp.Or(l.file.text(l.root.Get("meta", "product")), name, "profile")
		if m := release.FindStringSubmatch(l.file.text(meta.Get("misc"))); first && m != nil {
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
	if x == l.processes[0] || x.value != l.root {
		l.attributes(x, meta)
	}
	l.otherLived(x)
}

// siteKeys are what the threads of a browser say of the pages that their process shows.
var siteKeys = []string{"eTLD+1", "isPrivateBrowsing", "userContextId"}

// describeSite keeps that of the first thread, which has it of all.
func (l *layout) describeSite(x *process) {
	for _, key := range siteKeys {
		if len(x.threads) == 0 {
			return
		}
		if value := l.file.plain(x.threads[0].value.Get(key)); value != "" {
			x.row.Attrs = append(x.row.Attrs, stream.Attr{Key: key, Value: value})
		}
	}
}

// attributes keeps all that meta says beside.
func (l *layout) attributes(x *process, meta *jsonfile.Value) {
	if meta == nil {
		return
	}
	for _, m := range meta.Members() {
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

// otherLived is when a process was recorded: as long as the profiler ran, or
// from the first row on.
func (l *layout) otherLived(x *process) {
	meta, zero := l.root.Get("meta"), x.zero
	if outer, ok := time(meta.Get("startTime")); ok {
		zero = outer
	}
	start, known := time(meta.Get("profilingStartTime"))
	if x.row.Start = zero + start; !known {
		x.row.Start = x.zero + l.firstRow(x)
	}
	for _, t := range x.threads {
		if t.track.Main && t.track.Start > x.row.Start && known {
			x.row.Start = t.track.Start // it began while the profiler ran
		}
	}
	if end, ok := time(meta.Get("profilingEndTime")); ok && end > start {
		x.row.End = zero + end
	}
	if at, ok := time(x.value.Get("meta", "contentEarliestTime")); ok && !l.processed() {
		x.row.Earliest = x.zero + at
	}
	shutdown := x.value.Get("meta", "shutdownTime")
	if l.processed() && len(x.threads) > 0 {
		shutdown = x.threads[0].value.Get("processShutdownTime")
	}
	if end, ok := time(shutdown); ok {
		x.row.End = x.zero + end
		x.row.Exit = stream.Exit{Known: true, Reason: "shut down"}
	}
}

// firstRow is the earliest time of the first samples of the threads; the markers
// are in no order.
func (l *layout) firstRow(x *process) (first stream.Time) {
	known := false
	for _, t := range x.threads {
		rows := l.file.table(t.value.Get("samples"), "time", "timeDeltas")
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
