package viewer

import (
	"strconv"

	"gprof/convert/internal/jsontext"
	"gprof/stream"
)

// WriteAbout writes the members of an object that tells of a process what the
// formats have no place for.
func WriteAbout(out *jsontext.Writer, t *stream.Tables, p *stream.Process) {
	member(out, "instance", Hex(p.Instance))
	if p.Parent != 0 {
		member(out, "parent", Hex(t.Process(p.Parent).Instance))
	}
	number(out, "pid", int64(p.Pid))
	for _, m := range []struct{ key, value string }{
		{"name", p.Name}, {"service", p.Service}, {"version", p.Version}, {"revision", p.Revision},
		{"host", p.Host}, {"exe", p.Exe}, {"go", p.Go}, {"cpu", p.CPU},
	} {
		if m.value != "" {
			member(out, m.key, m.value)
		}
	}
	writeArgs(out, p)
	writeBuild(out, p)
	if p.Exit.Known {
		writeExit(out, &p.Exit)
	}
	number(out, "rangeStart", int64(p.RangeStart))
	// As texts: a number of JSON is not exact.
	if p.Earliest != 0 {
		member(out, "earliest", strconv.FormatInt(int64(p.Earliest), 10))
	}
	member(out, "start", strconv.FormatInt(int64(p.Start), 10))
	member(out, "end", strconv.FormatInt(int64(p.End), 10))
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
	out.Key("exit")
	out.BeginObject()
	member(out, "reason", e.Reason)
	number(out, "code", e.Code)
	member(out, "text", e.Text)
	out.EndObject()
}

// writeBuild writes what a program was built from, and what recorded it.
func writeBuild(out *jsontext.Writer, p *stream.Process) {
	if p.Module != "" {
		member(out, "module", p.Module)
	}
	if p.Modified {
		out.Key("modified")
		out.Bool(true)
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
		number(out, "limit", p.Settings.Limit)
	}
	if p.Cores > 0 {
		number(out, "cores", int64(p.Cores))
	}
	if p.CPUName != "" {
		member(out, "cpuName", p.CPUName)
	}
}
