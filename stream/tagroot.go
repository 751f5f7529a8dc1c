package stream

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// tagged is a source whose stacks begin with what they belong to.
type tagged struct {
	Source
	keys []string
	tags map[tag]StackID // of frames KEY:value alone
	made map[tagStack]StackID
	used []bool // by key: some row has a value
	done bool
}

// tag is what a row belongs to, as far as one of the keys tells it.
type tag struct {
	process   ProcessID
	track     TrackID
	goroutine uint64
}

// tagStack is a stack under the frames of a tag.
type tagStack struct{ root, stack StackID }

// What a key names; any other is an attribute of the process.
const (
	tagTrack     = "track"
	tagGoroutine = "goroutine"
)

var processTags = []struct {
	key   string
	value func(*Process) string
}{
	{"process", (*Process).Title},
	{"instance", (*Process).instance},
	{"pid", func(p *Process) string { return strconv.Itoa(p.Pid) }},
	{"name", func(p *Process) string { return p.Name }},
	{"service", func(p *Process) string { return p.Service }},
	{"version", func(p *Process) string { return p.Version }},
	{"revision", func(p *Process) string { return p.Revision }},
	{"host", func(p *Process) string { return p.Host }},
}

// TagRoot returns a Source of the events of src whose stacks begin with what
// they belong to: for each key, the first outermost, a label frame KEY:value. A
// key is track, goroutine (where src tells it), process, instance, pid, name,
// service, version, revision, host, or an attribute of the process; where it has
// no value there is no frame. It ends with an [ErrNoMatch] if a key has no value
// at all. It is a [Progress] if src is, and closes src if it can be closed.
func TagRoot(src Source, keys ...string) Source {
	return likeSource(&tagged{Source: src, keys: keys, tags: make(map[tag]StackID), made: make(map[tagStack]StackID), used: make([]bool, len(keys))}, src)
}

// Next implements [Source].
func (t *tagged) Next(b *Batch) error {
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
	before := len(t.made)
	for i, stack := range b.Stack {
		if stack != 0 || b.Series.Kind == Samples {
			b.Stack[i] = t.under(tables, t.root(tables, b, i), stack)
		}
	}
	tables.Hold(int64(len(t.made)-before) * tagBytes)
	return nil
}

// tagBytes is about what a stack takes in made.
const tagBytes = 32

// root is the frames of row i alone.
func (t *tagged) root(tables *Tables, b *Batch, i int) StackID {
	of := tag{process: b.Series.Process, track: b.Series.Track}
	if t.asks(tagGoroutine) {
		of.goroutine = b.goroutine(i)
	}
	root, ok := t.tags[of]
	if !ok {
		for k, key := range t.keys {
			if value := tables.tagOf(key, of); value != "" {
				t.used[k] = true
				root = tables.Stacks.Intern(root, tables.Frames.Intern(Frame{Function: tables.Strings.Intern(key + ":" + value), Label: true}))
			}
		}
		t.tags[of] = root
	}
	return root
}

func (t *tagged) asks(key string) bool { return slices.Contains(t.keys, key) }

// tagOf is the value of a key, "" if there is none.
func (t *Tables) tagOf(key string, of tag) string {
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
	for _, a := range p.Attrs {
		if a.Key == key {
			return a.Value
		}
	}
	return ""
}

// under is a stack with others below it.
func (t *tagged) under(tables *Tables, root, stack StackID) StackID {
	if root == 0 || stack == 0 {
		return max(root, stack)
	}
	k := tagStack{root, stack}
	made, ok := t.made[k]
	if !ok {
		var frames []FrameID
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

// end says which key has no value.
func (t *tagged) end() error {
	for k, used := range t.used {
		if !used && len(t.tags) > 0 {
			return NoMatch(fmt.Sprintf("no stack has the tag %q", t.keys[k]), t.Tables().tagKeys())
		}
	}
	return io.EOF
}

// tagKeys are the keys of all tags there may be.
func (t *Tables) tagKeys() []string {
	keys := []string{tagTrack, tagGoroutine}
	for _, known := range processTags {
		keys = append(keys, known.key)
	}
	for i := range t.Processes {
		for _, a := range t.Processes[i].Attrs {
			keys = append(keys, a.Key)
		}
	}
	return keys
}

// Close implements [io.Closer].
func (t *tagged) Close() error { return closeSource(t.Source) }
