package viewer

import (
	"fmt"
	"strings"

	"gprof/convert/internal/jsontext"
	"gprof/stream"
)

// WriteProgram writes the members of meta that tell of the program of a process,
// and of the machine that it ran on. What the recording does not say is left out; so is
// what no program of ours has: a toolkit, an update channel, extensions.
func WriteProgram(out *jsontext.Writer, p *stream.Process) {
	member(out, "product", product(p))
	member(out, "misc", misc(p))
	member(out, "oscpu", strings.TrimSpace(p.OS+" "+p.Arch))
	member(out, "platform", p.OS)
	member(out, "abi", p.Arch)
	for _, m := range []struct{ key, value string }{
		{"appBuildID", p.Revision}, {"sourceURL", sourceURL(p)}, {"CPUName", p.CPUName},
	} {
		if m.value != "" {
			member(out, m.key, m.value)
		}
	}
	if p.Cores > 0 {
		number(out, "physicalCPUs", int64(p.Cores))
	}
	if p.CPUs > 0 {
		number(out, "logicalCPUs", int64(p.CPUs))
	}
}

// product is the service and its version, which the viewer shows as a title.
func product(p *stream.Process) string {
	name := p.Service
	if name == "" {
		name = p.Name
	}
	return strings.TrimSpace(name + " " + p.Version)
}

// misc is a note about the build. It ends with a bracket, because the viewer
// takes a number at the end for the version of the product.
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

// sourceURL is where the source of the program's build can be read, "" if its module
// does not tell: those of two hosts are named after their repositories. What was
// built from changes lies nowhere.
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

// SlowBuild says whether the times of a program are those of a build that nobody
// runs in earnest: the viewer warns of it.
func SlowBuild(p *stream.Process) bool { return len(p.SlowedBy) > 0 }

// entrySize is the unit of a capacity.
const entrySize = 8

// WriteConfiguration writes the value of the member of that name: what the recorder
// of p was started with, and the interval in ns.
func WriteConfiguration(out *jsontext.Writer, p *stream.Process, interval int64) {
	features := p.Settings.Features
	if p.CPU != "" {
		features = append(features[:len(features):len(features)], "cpu:"+p.CPU)
	}
	out.BeginObject()
	texts(out, "features", features)
	texts(out, "threads", p.Settings.Tracks)
	out.Key("interval")
	out.Fixed(interval, 6)
	number(out, "capacity", p.Settings.Limit/entrySize)
	out.EndObject()
}
