package timeline

import (
	"cmp"
	"strconv"
	"strings"

	"gprof/stream"
)

// Program is what a process is called by.
func Program(p *stream.Process) string { return cmp.Or(p.Service, p.Name, "process") }

// About is what is known of a process that such formats have no place for.
func About(p *stream.Process) (all []stream.Attr) {
	add := func(key, value string) {
		if value != "" && value != "0" {
			all = append(all, stream.Attr{Key: key, Value: value})
		}
	}
	add("instance", p.InstanceName())
	add("service", p.Service)
	add("program", p.Name)
	add("version", p.Version)
	add("revision", p.Revision)
	add("host", p.Host)
	add("true pid", strconv.Itoa(p.Pid))
	add("exe", p.Exe)
	add("go", p.Go)
	add("os", p.OS)
	add("arch", p.Arch)
	add("cpus", strconv.Itoa(p.CPUs))
	add("slowed by", strings.Join(p.SlowedBy, ", "))
	if p.Exit.Known {
		add("ended", p.Exit.Reason)
		add("ended with", p.Exit.Text)
		if p.Exit.HasCode() {
			all = append(all, stream.Attr{Key: "code", Value: strconv.FormatInt(p.Exit.Code, 10)})
		}
	}
	for _, a := range p.Attrs {
		add("attribute "+a.Key, a.Value)
	}
	return all
}

// pauseNames are the names of the reasons of pauses.
var pauseNames = []string{stream.PausedAll: "paused", stream.PausedSampling: "sampling paused", stream.PausedCollecting: "collecting"}

// PauseName is the name of a pause of a reason.
func PauseName(reason int64) string {
	if 0 <= reason && int(reason) < len(pauseNames) {
		return pauseNames[reason]
	}
	return "paused for reason " + strconv.FormatInt(reason, 10)
}

// PageName is the name of row i of pages, and its window, which a start and its end share.
func PageName(b *stream.Batch, i int) (name string, window uint64) {
	const windowField, urlField = 1, 4 // of stream.PageFields
	if b.Args[windowField].TypeAt(i) != stream.Null {
		window = b.Args[windowField].BitsAt(i)
	}
	if url := &b.Args[urlField]; url.TypeAt(i) == stream.Text {
		return string(url.TextAt(i)), window
	}
	return "page", window
}
