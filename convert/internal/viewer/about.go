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
	if p.Exit.Known {
		writeExit(out, &p.Exit)
	}
	number(out, "rangeStart", int64(p.RangeStart))
	// As texts: a number of JSON is not exact.
	member(out, "start", strconv.FormatInt(int64(p.Start), 10))
	member(out, "end", strconv.FormatInt(int64(p.End), 10))
}

func writeArgs(out *jsontext.Writer, p *stream.Process) {
	out.Key("args")
	out.BeginArray()
	for _, arg := range p.Args {
		out.String(arg)
	}
	out.EndArray()
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

// WriteConfiguration writes the value of the member of that name: how p was
// recorded, at an interval in ns.
func WriteConfiguration(out *jsontext.Writer, p *stream.Process, interval int64) {
	out.BeginObject()
	out.Key("features")
	out.BeginArray()
	if p.CPU != "" {
		out.String(p.CPU)
	}
	out.EndArray()
	out.Key("threads")
	out.Raw("[]")
	out.Key("interval")
	out.Fixed(interval, 6)
	number(out, "capacity", 0) // not known here
	out.EndObject()
}
