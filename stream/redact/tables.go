package redact

import (
	"slices"
	"strconv"
	"strings"

	"gprof/stream"
)

// tables redacts what rows refer to, after the last row, when nobody interns any more;
// ids stay.
func (r *Redactor) tables(t *stream.Tables) {
	for i := range t.Processes {
		r.process(stream.ProcessID(i+1), &t.Processes[i])
	}
	for i := range t.Events {
		r.event(&t.Events[i])
	}
	t.DropLinkNames() // they may say more than the names of functions do
	labels := labelNames(t)
	t.Tracks.Map(func(k stream.Track) stream.Track { return r.track(k, labels) })
	stream.AssignNames(t.Processes) // their hosts may have become equal
	if r.how[nameValue] != Keep {
		r.own = ownCounters(t)
		t.Counters.Map(r.counter)
		t.Frames.Map(func(f stream.Frame) stream.Frame { return r.label(t, f) })
	}
	t.Labels.Map(func(s stream.LabelSet) stream.LabelSet {
		return s.MapValues(func(key, value string) string {
			if key == sizeLabel && t.NumericLabel(key) {
				return value
			}
			return r.text(0, secretValue, value)
		})
	})
	if r.how[pathValue] != Keep {
		names := moduleNames(t)
		t.MapMappings(func(m stream.Mapping) stream.Mapping {
			m.Path = baseName(m.Path)
			return m
		})
		t.Modules.Map(func(m stream.Module) stream.Module { return r.module(m, names) })
		r.files(t)
	}
	r.ledger(t)
	r.tell(t)
}

// sizeLabel is the label of heap profiles that has the size of objects. It says no more than bytes
// and objects do.
const sizeLabel = "bytes"

func (r *Redactor) process(id stream.ProcessID, p *stream.Process) {
	p.Host = r.machine(id, "host", p.Host)
	p.Clock.Boot = r.machine(id, "boot", p.Clock.Boot)
	p.Exe, p.Name = r.program(id, p.Exe), r.program(id, p.Name)
	args := make([]string, 0, len(p.Args))
	for _, a := range p.Args {
		if a = r.text(id, secretValue, a); a != "" || r.how[secretValue] != Drop {
			args = append(args, a)
		}
	}
	p.Args = args
	p.Settings.Tracks = r.patterns(id, p.Settings.Tracks)
	p.Attrs = r.values(id, p.Attrs)
	p.SelfTests = r.values(id, p.SelfTests) // they may quote paths and the environment
	p.Exit.Text = r.text(id, secretValue, p.Exit.Text)
}

// patterns redacts the patterns of the tracks to record: names, or parts of them.
func (r *Redactor) patterns(id stream.ProcessID, list []string) []string {
	list = slices.Clone(list)
	for i := range list {
		list[i] = r.name(id, "track", list[i])
	}
	return list
}

// values redacts the values of attributes.
func (r *Redactor) values(id stream.ProcessID, attrs []stream.Attr) []stream.Attr {
	attrs = slices.Clone(attrs)
	for i := range attrs {
		attrs[i].Value = r.text(id, secretValue, attrs[i].Value)
	}
	return attrs
}

// program trims the path of a program to its name. The name of a process may be a path,
// too, of any operating system.
func (r *Redactor) program(id stream.ProcessID, path string) string {
	base := baseName(path)
	if r.how[pathValue] == Keep || base == path {
		return path
	}
	r.count(id, pathValue, trimValues)
	return base
}

// machine redacts the name of a machine. It is treated as a URL, and its hash is that of
// the host of one.
func (r *Redactor) machine(id stream.ProcessID, word, name string) string {
	how := r.how[urlValue]
	if name == "" || how == Keep {
		return name
	}
	r.count(id, urlValue, how)
	if how == Drop {
		return ""
	}
	return word + ":" + r.digest.of(name)
}

// event changes the type of fields whose numbers became texts.
func (r *Redactor) event(e *stream.Event) {
	fields := slices.Clone(e.Fields)
	for i, c := range newPlan(e) {
		if f := &fields[i]; r.how[c.kind] == Hash && !c.text {
			f.Type = stream.Text
			if f.Format != stream.FormatFlow && f.Format != stream.FormatFlowEnd {
				f.Format = stream.FormatText
			}
		}
	}
	e.Fields = fields
}

// labelNames are the names of labels. The label at the root of a stack is the name of its
// track.
func labelNames(t *stream.Tables) map[string]bool {
	names := make(map[string]bool)
	for id := stream.FrameID(1); int(id) <= t.Frames.Len(); id++ {
		if f := t.Frames.At(id); f.Label {
			names[t.Strings.At(f.Function)] = true
		}
	}
	return names
}

func (r *Redactor) track(t stream.Track, labels map[string]bool) stream.Track {
	switch {
	case r.how[nameValue] == Keep && !t.Main:
	case t.Main: // it has the name of its process
		t.Name = r.program(t.Process, t.Name)
	case !t.Root || labels[t.Name]:
		t.Name, t.Root = r.name(t.Process, "track", t.Name), false
	}
	return t
}

// Readable returns the names of tracks that stay readable, and how many do not. With a
// nil r all do.
func (r *Redactor) Readable(t *stream.Tables, tracks []stream.Track) (names []string, hidden int) {
	labels := labelNames(t)
	for _, track := range tracks {
		if r == nil || r.track(track, labels).Name == track.Name {
			names = append(names, track.Name)
		} else {
			hidden++
		}
	}
	return names, hidden
}

// ownCounters are the names of the recorder's own counters.
func ownCounters(t *stream.Tables) map[string]bool {
	names := make(map[string]bool)
	for id := stream.CounterID(1); int(id) <= t.Counters.Len(); id++ {
		if c := t.Counters.At(id); c.Own {
			names[c.Name] = true
		}
	}
	return names
}

func (r *Redactor) counter(c stream.Counter) stream.Counter {
	if !c.Own {
		c.Category, c.Description = r.name(c.Process, "group", c.Category), ""
		c.Name = r.name(c.Process, "counter", c.Name)
		return c
	}
	c.Name = r.ownName(c.Process, c.Name)
	return c
}

// ownName redacts the name of a recorder's own counter. A counter of a thread ends with
// the name that the program gave the thread.
func (r *Redactor) ownName(p stream.ProcessID, name string) string {
	if rest, ok := strings.CutPrefix(name, "thread "); ok {
		number, called, _ := strings.Cut(rest, " ")
		return strings.TrimSpace("thread " + number + " " + r.name(p, "name", called))
	}
	return name
}

func (r *Redactor) label(t *stream.Tables, f stream.Frame) stream.Frame {
	if f.Label {
		f.Function = t.Strings.Intern(r.name(0, "label", t.Strings.At(f.Function)))
	}
	return f
}

// moduleNames gives each path of a module without a build id, which only the path tells
// from others, a name of its own: those with the same base name are numbered in the order
// of their paths.
func moduleNames(t *stream.Tables) map[string]string {
	var paths []string
	for id := stream.ModuleID(1); int(id) <= t.Modules.Len(); id++ {
		if m := t.Modules.At(id); m.Build == "" {
			paths = append(paths, m.Path)
		}
	}
	slices.Sort(paths)
	names, taken := make(map[string]string, len(paths)), make(map[string]int)
	for _, p := range slices.Compact(paths) {
		base := baseName(p)
		names[p] = base
		if taken[base]++; taken[base] > 1 {
			names[p] = base + "#" + strconv.Itoa(taken[base])
		}
	}
	return names
}

// module trims the paths of a module to its name.
func (r *Redactor) module(m stream.Module, names map[string]string) stream.Module {
	if m.Path == "" && m.DebugPath == "" {
		return m
	}
	r.count(0, pathValue, trimValues)
	m.DebugPath, m.DebugName = baseName(m.DebugPath), baseName(m.DebugName)
	if m.Path == "" {
		return m
	}
	base := baseName(m.Path)
	if m.Build == "" {
		base = names[m.Path]
	}
	m.Path, m.Name = base, baseName(m.Name)
	return m
}

// files trims the paths of source files. A file counts once, however many functions it
// has.
func (r *Redactor) files(t *stream.Tables) {
	type place struct{ function, file stream.StringID }
	trimmed, counted := make(map[place]stream.StringID), make(map[stream.StringID]bool)
	t.Frames.Map(func(f stream.Frame) stream.Frame {
		if f.File == 0 {
			return f
		}
		key := place{f.Function, f.File}
		if f.Label { // no function
			key.function = 0
		}
		id, ok := trimmed[key]
		if !ok {
			id = t.Strings.Intern(trimmedFile(t.Strings.At(key.function), t.Strings.At(f.File)))
			trimmed[key] = id
		}
		if !counted[f.File] {
			counted[f.File] = true
			r.count(0, pathValue, trimValues)
		}
		f.File = id
		return f
	})
}

// ledger redacts the places in the ledger.
func (r *Redactor) ledger(t *stream.Tables) {
	lines := t.Ledger.Lines()
	t.Ledger = stream.Ledger{}
	for _, line := range lines {
		if !placedByRecorder(&line) {
			line.Where = r.place(&line)
		}
		t.Ledger.Add(line)
	}
}

// place redacts a place: tracks and counters get their names in the tables; inputs are
// paths; all others are secrets.
func (r *Redactor) place(line *stream.Line) string {
	switch {
	case line.Reason == stream.ReasonExpired && line.What == "events of tracks":
		return r.name(0, "track", line.Where)
	case line.Reason == stream.ReasonExpired && line.What == "values of counters":
		if r.own[line.Where] {
			return r.ownName(0, line.Where)
		}
		return r.name(0, "counter", line.Where)
	case ofInputs(line):
		return r.text(0, pathValue, line.Where)
	}
	return r.text(0, secretValue, line.Where)
}

// ofInputs reports whether the place is the name of an input, or of a file in an archive.
func ofInputs(l *stream.Line) bool {
	return l.What == "inputs" || l.What == "members" || l.Reason == stream.ReasonUnreadable || l.Reason == stream.ReasonStalled || l.Reason == stream.ReasonRefused
}

// placedByRecorder reports whether the place is in our own words: files of a recording,
// kinds of entries, names of events, numbers.
func placedByRecorder(l *stream.Line) bool {
	switch {
	case l.Where == "":
		return true
	case ofInputs(l):
		return false
	case l.Reason == stream.ReasonClock, l.Reason == stream.ReasonMalformed, l.Reason == stream.ReasonUndefined, l.Reason == stream.ReasonLeftOut, l.Reason == stream.ReasonFiltered, l.Reason == stream.ReasonDiscarded,
		l.Reason == stream.ReasonExpired && l.What == "processes":
		return true
	}
	return slices.ContainsFunc(recorderPlaces, func(p string) bool { return strings.HasPrefix(l.Where, p) })
}

// recorderPlaces are the beginnings of such places.
var recorderPlaces = []string{"chunk-", "dict-", "stacks-", "meta", "exit", "index ", "kind "}
