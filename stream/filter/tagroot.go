package filter

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"gprof/stream"
)

// rootTagger is a source whose stacks begin with frames for what they belong to. The
// frames are named at the end, from the tables as they are then, because a source below
// may redact them.
type rootTagger struct {
	stream.Wrapper
	keys   []string
	roots  map[tag]stream.StackID // of the frames of a tag alone
	frames map[tagFrame]stream.FrameID
	later  []unnamedFrame
	made   map[tagStack]stream.StackID
	used   []bool // by key: some row has a value
	claim  stream.Claim

	labelled bool // a key may be a label's
	done     bool
}

// tag is what a row belongs to.
type tag struct {
	process   stream.ProcessID
	track     stream.TrackID
	goroutine uint64
	labels    stream.LabelsID
}

// tagFrame is the frame of a key and a value.
type tagFrame struct {
	key   string
	value string
}

// unnamedFrame is a frame without a name yet: that of a key, for a tag.
type unnamedFrame struct {
	frame stream.FrameID
	key   string
	of    tag
}

// tagStack is a stack under the frames of a tag.
type tagStack struct{ root, stack stream.StackID }

// Keys with a meaning of their own; any other is a label that the program has set, or an
// attribute of the process.
const (
	tagTrack     = "track"
	tagGoroutine = "goroutine"
)

var processTags = []struct {
	key   string
	value func(*stream.Process) string
}{
	{"process", (*stream.Process).Title},
	{"instance", (*stream.Process).InstanceName},
	{"pid", func(p *stream.Process) string { return strconv.Itoa(p.Pid) }},
	{"name", func(p *stream.Process) string { return p.Name }},
	{"service", func(p *stream.Process) string { return p.Service }},
	{"version", func(p *stream.Process) string { return p.Version }},
	{"revision", func(p *stream.Process) string { return p.Revision }},
	{"host", func(p *stream.Process) string { return p.Host }},
}

// TagRoot returns a Source of the events of src whose stacks begin with what they belong
// to: for each key, the first one outermost, a label frame KEY:value. A key is track,
// goroutine (if src knows it), process, instance, pid, name, service, version, revision,
// host, a label that the program has set, or an attribute of the process. Without a value
// there is no frame. If no row has a value of a label or an attribute, the Source ends
// with an [ErrNoMatch]; for other keys the ledger says so.
func TagRoot(src stream.Source, keys ...string) stream.Source {
	return &rootTagger{Wrapper: stream.Wrapper{Source: src}, keys: keys, labelled: slices.ContainsFunc(keys, mayBeLabel), used: make([]bool, len(keys)),
		roots: make(map[tag]stream.StackID), frames: make(map[tagFrame]stream.FrameID), made: make(map[tagStack]stream.StackID)}
}

// mayBeLabel reports whether a key has no other meaning.
func mayBeLabel(key string) bool {
	for _, known := range processTags {
		if key == known.key {
			return false
		}
	}
	return key != tagTrack && key != tagGoroutine
}

// Next implements [Source].
func (t *rootTagger) Next(b *stream.Batch) error {
	err := t.Source.Next(b)
	if errors.Is(err, io.EOF) && !t.done {
		t.done = true
		return t.end()
	}
	if err != nil || len(b.Stack) == 0 {
		return err
	}
	tables := t.Tables()
	tables.Lock()
	defer tables.Unlock()
	for i, stack := range b.Stack {
		if stack != 0 || b.Series.Kind == stream.Samples {
			b.Stack[i] = t.under(tables, t.root(tables, b, i), stack)
		}
	}
	t.claim.Set(tables, int64(len(t.made)+len(t.roots))*tagBytes)
	return nil
}

// tagBytes is about how much memory an entry of made or roots takes.
const tagBytes = 64

// root is the stack of the frames of row i alone.
func (t *rootTagger) root(tables *stream.Tables, b *stream.Batch, i int) stream.StackID {
	of := tag{process: b.Series.Process, track: b.Series.Track}
	if t.asks(tagGoroutine) {
		of.goroutine = uint64(b.Owner(i).Goroutine)
	}
	if t.labelled {
		of.labels = b.Owner(i).Labels
	}
	root, ok := t.roots[of]
	if !ok {
		for k, key := range t.keys {
			if value := tagOf(tables, key, of); value != "" {
				t.used[k] = true
				root = tables.Stacks.Intern(root, t.frame(tables, tagFrame{key, value}, of))
			}
		}
		t.roots[of] = root
	}
	return root
}

// frame is the frame of a key and a value. Until it is named it has a depth that no other
// frame has, so that it differs from all.
func (t *rootTagger) frame(tables *stream.Tables, f tagFrame, of tag) stream.FrameID {
	id, ok := t.frames[f]
	if !ok {
		id = tables.Frames.Intern(stream.Frame{Depth: math.MinInt32 + int32(len(t.later))})
		t.frames[f] = id
		t.later = append(t.later, unnamedFrame{id, f.key, of})
	}
	return id
}

func (t *rootTagger) asks(key string) bool { return slices.Contains(t.keys, key) }

// tagOf is the value of a key, "" if there is none.
func tagOf(t *stream.Tables, key string, of tag) string {
	switch key {
	case tagTrack:
		return t.Tracks.At(of.track).Name
	case tagGoroutine:
		if of.goroutine == 0 {
			return ""
		}
		return strconv.FormatUint(of.goroutine, 10)
	}
	p := t.Process(of.process)
	for _, known := range processTags {
		if known.key == key {
			return known.value(p)
		}
	}
	if of.labels != 0 {
		if value := t.Labels.At(of.labels).Get(key); value != "" {
			return value
		}
	}
	for _, a := range p.Attrs {
		if a.Key == key {
			return a.Value
		}
	}
	return ""
}

// under is a stack of some frames with those of another stack below them.
func (t *rootTagger) under(tables *stream.Tables, root, stack stream.StackID) stream.StackID {
	if root == 0 || stack == 0 {
		return max(root, stack)
	}
	k := tagStack{root, stack}
	made, ok := t.made[k]
	if !ok {
		var frames []stream.FrameID
		for s := stack; s != 0; {
			parent, frame := tables.Stacks.At(s)
			frames, s = append(frames, frame), parent
		}
		made = root
		for i := len(frames) - 1; i >= 0; i-- {
			made = tables.Stacks.Intern(made, frames[i])
		}
		t.made[k] = made
	}
	return made
}

// end names the frames, or says which key has no value.
func (t *rootTagger) end() error {
	tables := t.Tables()
	for k, used := range t.used {
		switch {
		case used || len(t.roots) == 0:
		case !mayBeLabel(t.keys[k]): // unknown in these recordings, such as a version
			tables.Ledger.Add(stream.Line{Reason: stream.ReasonNoValue, What: "tags", Where: t.keys[k], Count: 1})
		default:
			return NoMatch(fmt.Sprintf("no stack has the tag %q", t.keys[k]), t.valued(tables))
		}
	}
	for _, l := range t.later {
		name := tables.Strings.Intern(l.key + ":" + tagOf(tables, l.key, l.of))
		tables.Frames.Amend(l.frame, stream.Frame{Function: name, Label: true})
	}
	return io.EOF
}

// valued are the keys for which some stack has a value.
func (t *rootTagger) valued(tables *stream.Tables) (keys []string) {
	all := []string{tagTrack, tagGoroutine}
	for _, known := range processTags {
		all = append(all, known.key)
	}
	for i := range tables.Processes {
		for _, a := range tables.Processes[i].Attrs {
			all = append(all, a.Key)
		}
	}
	for id := stream.LabelsID(1); int(id) <= tables.Labels.Len(); id++ {
		for key := range tables.Labels.At(id).All() {
			all = append(all, key)
		}
	}
	slices.Sort(all)
	for _, key := range slices.Compact(all) {
		for of := range t.roots {
			if tagOf(tables, key, of) != "" {
				keys = append(keys, key)
				break
			}
		}
	}
	return keys
}
