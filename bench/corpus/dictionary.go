package corpus

import (
	"fmt"
	"os"
	"path/filepath"

	"gprof/rawformat"
)

// dictionary writes one generation of a process: what is used is defined.
type dictionary struct {
	p          *process
	generation int
	writers    int // that have a chunk of it open
	tree       *Stacks
	data       []byte
	body       []byte
	strings    map[string]uint64
	frames     map[int32]uint64 // by function
	stacks     map[int32]uint64 // by node
	path       []int32
}

func newDictionary(p *process, generation int, tree *Stacks) *dictionary {
	d := &dictionary{p: p, generation: generation, tree: tree,
		strings: map[string]uint64{}, frames: map[int32]uint64{}, stacks: map[int32]uint64{}}
	h := rawformat.RecordHeader{Magic: rawformat.MagicDict, Version: rawformat.Version, Instance: p.instance, Generation: uint32(generation), Pid: p.pid}
	d.data = rawformat.AppendRecordHeader(nil, &h)
	d.common()
	return d
}

// common defines the module, the events, the counters and the tracks.
func (d *dictionary) common() {
	d.lines(`def-module id=1 path="/bin/shop" build="c0ffee" start=4194304 end=33554432 offset=0`,
		`def-category id=1 name="Requests" color="blue" sub=""`,
		`def-event id=1 category=1 name="flush" display=3 chart="" tooltip="" table=""`,
		`def-field event=1 position=0 name="size" label="" wire=0 format=3 privacy=0 flags=0`,
		`def-field event=1 position=1 name="pages" label="" wire=1 format=0 privacy=0 flags=0`,
		`def-event id=2 category=1 name="request" display=3 chart="" tooltip="" table=""`,
		`def-field event=2 position=0 name="path" label="" wire=3 format=10 privacy=2 flags=1`,
		`def-field event=2 position=1 name="status" label="" wire=1 format=0 privacy=0 flags=0`,
		`def-counter id=1 name="heap" category="Memory" description="" unit=3 mode=0`)
	for who := range d.p.options.Threads {
		if t := d.p.track(who); t != 0 {
			d.lines(fmt.Sprintf(`def-track id=%d name="worker %d"`, t, who))
		}
	}
}

// lines appends definitions in the text of package rawformat.
func (d *dictionary) lines(lines ...string) {
	for _, line := range lines {
		body, err := rawformat.ParseBlock(d.body[:0], line)
		if err != nil {
			panic("internal error: " + line + ": " + err.Error())
		}
		d.append(body)
	}
}

// record appends a definition of integers, which may end in a text.
func (d *dictionary) record(k rawformat.Kind, text string, values ...uint64) {
	b := append(d.body[:0], byte(k))
	for _, v := range values {
		b = rawformat.AppendUint(b, v)
	}
	if k == rawformat.KindDefString {
		b = rawformat.AppendText(b, text)
	}
	d.append(b)
}

func (d *dictionary) append(body []byte) {
	d.body = body
	d.data = rawformat.AppendRecord(d.data, body, d.p.instance, uint32(d.generation))
	d.p.corpus.Definitions++
}

func (d *dictionary) text(s string) uint64 {
	id, ok := d.strings[s]
	if !ok {
		id = uint64(len(d.strings) + 1)
		d.strings[s] = id
		d.record(rawformat.KindDefString, s, id)
	}
	return id
}

func (d *dictionary) frame(function int32) uint64 {
	id, ok := d.frames[function]
	if !ok {
		id = uint64(len(d.frames) + 1)
		d.frames[function] = id
		d.record(rawformat.KindDefFrame, "", id, 1, offsetOf(function))
		d.record(rawformat.KindDefSymbol, "", id, 0, d.text(nameOf(function)), d.text(fileOf(function)), lineOf(function))
	}
	return id
}

// stack defines a node and what is missing on its way to the root.
func (d *dictionary) stack(node int32) uint64 {
	d.path = d.path[:0]
	for ; node != 0 && d.stacks[node] == 0; node, _ = d.tree.at(node) {
		d.path = append(d.path, node)
	}
	id := d.stacks[node]
	for i := len(d.path) - 1; i >= 0; i-- {
		_, function := d.tree.at(d.path[i])
		parent, frame := id, d.frame(function)
		id = uint64(len(d.stacks) + 1)
		d.stacks[d.path[i]] = id
		d.record(rawformat.KindDefStack, "", id, parent, frame)
		d.p.corpus.Stacks++
	}
	return id
}

func (d *dictionary) close() error {
	return os.WriteFile(filepath.Join(d.p.dir, fmt.Sprintf("dict-%03d", d.generation)), d.data, 0o600)
}
