package viewer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gprof/convert/internal/jsontext"
	"gprof/stream"
)

// WriteAbout writes the members of an object about a process that the formats have no place for.
func WriteAbout(out *jsontext.Writer, t *stream.Tables, p *stream.Process) {
	out.Member("instance", p.InstanceName())
	if p.Parent != 0 {
		out.Member("parent", t.Process(p.Parent).InstanceName())
	}
	out.Number("pid", int64(p.Pid))
	for _, m := range []struct{ key, value string }{
		{"name", p.Name}, {"service", p.Service}, {"version", p.Version}, {"revision", p.Revision},
		{"host", p.Host}, {"exe", p.Exe}, {"go", p.Go}, {"cpu", p.CPU},
	} {
		if m.value != "" {
			out.Member(m.key, m.value)
		}
	}
	writeArgs(out, p)
	writeBuild(out, p)
	if p.Exit.Known {
		writeExit(out, &p.Exit)
	}
	out.Number("rangeStart", int64(p.RangeStart))
	// As texts: a number of JSON is not exact.
	if p.Earliest != 0 {
		out.Member("earliest", strconv.FormatInt(int64(p.Earliest), 10))
	}
	out.Member("start", strconv.FormatInt(int64(p.Start), 10))
	out.Member("end", strconv.FormatInt(int64(p.End), 10))
}

func writeArgs(out *jsontext.Writer, p *stream.Process) {
	texts(out, "args", p.Args)
	out.Key("attrs")
	out.BeginArray() // not an object: a key may come twice
	for _, a := range p.Attrs {
		out.BeginArray()
		out.String(a.Key)
		out.String(a.Value)
		out.EndArray()
	}
	out.EndArray()
}

func writeExit(out *jsontext.Writer, e *stream.Exit) {
	out.Object("exit")
	out.Member("reason", e.Reason)
	out.Number("code", e.Code)
	out.Member("text", e.Text)
	out.EndObject()
}

// writeBuild writes how a program was built, and what recorded it.
func writeBuild(out *jsontext.Writer, p *stream.Process) {
	if p.Module != "" {
		out.Member("module", p.Module)
	}
	if p.Modified {
		out.Flag("modified", true)
	}
	for _, m := range []struct {
		key  string
		list []string
	}{{"slowedBy", p.SlowedBy}, {"features", p.Settings.Features}, {"trackFilter", p.Settings.Tracks}} {
		if len(m.list) > 0 {
			texts(out, m.key, m.list)
		}
	}
	if p.Settings.Limit > 0 {
		out.Number("limit", p.Settings.Limit)
	}
	if p.Cores > 0 {
		out.Number("cores", int64(p.Cores))
	}
	if p.CPUName != "" {
		out.Member("cpuName", p.CPUName)
	}
}

// WriteProgram writes the members of meta about a process's program and machine. Unknown ones are
// left out, and what no program of ours has: a toolkit, an update channel, extensions.
func WriteProgram(out *jsontext.Writer, p *stream.Process) {
	out.Member("product", product(p))
	out.Member("misc", misc(p))
	out.Member("oscpu", strings.TrimSpace(p.OS+" "+p.Arch))
	out.Member("platform", p.OS)
	out.Member("abi", p.Arch)
	for _, m := range []struct{ key, value string }{
		{"appBuildID", p.Revision}, {"sourceURL", sourceURL(p)}, {"CPUName", p.CPUName},
	} {
		if m.value != "" {
			out.Member(m.key, m.value)
		}
	}
	if p.Cores > 0 {
		out.Number("physicalCPUs", int64(p.Cores))
	}
	if p.CPUs > 0 {
		out.Number("logicalCPUs", int64(p.CPUs))
	}
}

// product is the service and its version, the viewer's title.
func product(p *stream.Process) string {
	name := p.Service
	if name == "" {
		name = p.Name
	}
	return strings.TrimSpace(name + " " + p.Version)
}

// misc is a note about the build. It ends with a bracket, because the viewer takes a number at the
// end for the product's version.
func misc(p *stream.Process) string {
	var notes []string
	if p.Revision != "" {
		note := "revision " + p.Revision
		if p.Modified {
			note += " with changes"
		}
		notes = append(notes, note)
	}
	if p.Go != "" {
		notes = append(notes, p.Go)
	}
	notes = append(notes, p.SlowedBy...)
	return fmt.Sprintf("gprof (%s)", strings.Join(notes, ", "))
}

// sourceURL is the URL of the build's source, "" if unknown: on two hosts modules are named after
// their repositories. A modified build has none.
func sourceURL(p *stream.Process) string {
	parts := strings.Split(p.Module, "/")
	if p.Revision == "" || p.Modified || len(parts) < 3 {
		return ""
	}
	repository := "https://" + strings.Join(parts[:3], "/")
	switch parts[0] {
	case "github.com":
		return repository + "/tree/" + p.Revision
	case "bitbucket.org":
		return repository + "/src/" + p.Revision
	}
	return ""
}

// SlowBuild reports whether the build is too slow for its times to count: the viewer warns of it.
func SlowBuild(p *stream.Process) bool { return len(p.SlowedBy) > 0 }

// entrySize is the unit of capacities, in bytes.
const entrySize = 8

// WriteConfiguration writes that member: the settings of p's recorder, and the interval in ns.
func WriteConfiguration(out *jsontext.Writer, p *stream.Process, interval int64) {
	features := p.Settings.Features
	if p.CPU != "" {
		features = append(features[:len(features):len(features)], "cpu:"+p.CPU)
	}
	out.BeginObject()
	texts(out, "features", features)
	texts(out, "threads", p.Settings.Tracks)
	out.Decimal("interval", interval, 6)
	out.Number("capacity", p.Settings.Limit/entrySize)
	out.EndObject()
}

// Attributes of a browser's process that each of its threads has in a profile: whose pages it
// showed. The viewer titles a process by its site, and leaves private browsing out of shared
// profiles.
const (
	siteKey      = "eTLD+1"
	privateKey   = "isPrivateBrowsing"
	containerKey = "userContextId"
)

// WriteSite writes these members of a thread of p.
func WriteSite(out *jsontext.Writer, p *stream.Process) {
	value := func(key string) string {
		i := slices.IndexFunc(p.Attrs, func(a stream.Attr) bool { return a.Key == key })
		if i < 0 {
			return ""
		}
		return p.Attrs[i].Value
	}
	if site := value(siteKey); site != "" {
		out.Member(siteKey, site)
	}
	if private, err := strconv.ParseBool(value(privateKey)); err == nil {
		out.Flag(privateKey, private)
	}
	if container, err := strconv.ParseUint(value(containerKey), 10, 32); err == nil {
		out.Number(containerKey, int64(container))
	}
}

// AppendPid appends the id of a process in a Gecko profile: its pid, or a string if several
// processes share the pid, which the viewer would merge.
func AppendPid(dst []byte, p *stream.Process) []byte {
	if p.OutPid == strconv.Itoa(p.Pid) {
		return append(dst, p.OutPid...)
	}
	return jsontext.AppendString(dst, p.OutPid)
}

// monotonicKeys are the members of meta for the monotonic clock at startTime, in ns, by p.OS, named
// as in Go, or Firefox. Windows counts in a unit of the machine's own.
var monotonicKeys = map[string]string{
	"linux": monotonicKey, "android": monotonicKey, "X11": monotonicKey, "Android": monotonicKey,
	"darwin": machKey, "Macintosh": machKey,
}

const (
	monotonicKey = "startTimeAsClockMonotonicNanosecondsSinceBoot"
	machKey      = "startTimeAsMachAbsoluteTimeNanoseconds"
)

// WriteClock writes that member for a process whose meta has the time start, if known: with it
// profiles of one machine can be aligned exactly. If the wall clock was changed meanwhile, it is
// only known near the first reading.
func WriteClock(out *jsontext.Writer, p *stream.Process, start stream.Time) {
	key, c := monotonicKeys[p.OS], &p.Clock
	before := int64(c.First - start)
	if beside := 0 <= before && before < int64(time.Millisecond); c.By == stream.PlacedByHost || c.Pieces > 1 && !beside {
		return
	}
	if key != "" && c.Monotonic > max(0, before) {
		out.Number(key, c.Monotonic-before)
	}
}
