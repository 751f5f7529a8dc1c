package corpus

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"gprof/chunks"
	"gprof/rawformat"
)

// realtime is the moment at which the first process begins: 2026-01-01.
const realtime = 1767225600_000000000

// process writes one process.
type process struct {
	options  *Options
	corpus   *Corpus
	dir      string
	instance uint64
	pid      uint32
	version  int    // of the program: the minor one
	start    uint64 // monotonic
	random   *rand.Rand
	tree     *Stacks
	dict     *dictionary // of chunks that are opened now
	writers  []*writer
	threads  []thread
	epoch    uint64
	next     uint64 // index
	bytes    int64
	sum      sums
}

// thread is what one thread runs, a goroutine of its own.
type thread struct {
	now  uint64
	tree *Stacks // of the chunk that its last sample is in
	node int32   // the stack
	heap int64
}

// Write makes a corpus in the session directory dir.
func Write(dir string, o Options) (*Corpus, error) {
	o.fill()
	c := &Corpus{}
	tree := NewStacks(o.Seed, o.Stacks)
	sampled := make([]bool, tree.tree.Len()+1)
	for i := range o.Processes {
		p, err := newProcess(dir, i, &o, c, tree)
		if err == nil {
			err = p.run(o.share(i, int64(o.Samples)), o.share(i, o.Bytes))
		}
		if err != nil {
			return nil, err
		}
		for node := range p.sum.rows {
			if !o.Grow && !sampled[node] {
				sampled[node] = true
				c.Sampled++
			}
		}
	}
	return c, nil
}

func newProcess(dir string, i int, o *Options, c *Corpus, tree *Stacks) (*process, error) {
	r := rand.New(rand.NewPCG(o.Seed, uint64(i)+3))
	p := &process{options: o, corpus: c, instance: r.Uint64() | 1, pid: uint32(1000 + i), version: i % o.Versions, start: 1_000_000_000 + uint64(i)*1_000_000,
		random: r, tree: tree, next: 1, sum: sums{rows: map[int32]sum{}}}
	p.dir = filepath.Join(dir, fmt.Sprintf("%016x", p.instance))
	for n := range o.Writers {
		p.writers = append(p.writers, &writer{p: p, number: n, last: map[int]int32{}})
	}
	for range o.Threads {
		p.threads = append(p.threads, thread{now: p.start + uint64(r.IntN(1_000_000)), heap: 1 << 30})
	}
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return nil, err
	}
	return p, p.meta()
}

func (p *process) anchor(now uint64) rawformat.Anchor {
	return rawformat.Anchor{Monotonic: now, Realtime: realtime + int64(now) - 1_000_000_000}
}

// goroutine and track are those of a thread's work; every other has no track.
func goroutine(who int) uint64 { return uint64(who + 1) }

func (p *process) track(who int) uint64 {
	if who%2 != 0 {
		return 0
	}
	return uint64(who/2 + 1)
}

// run writes that many samples, or samples up to that many bytes, and what goes
// with them.
func (p *process) run(samples, bytes int64) error {
	o := p.options
	done := func(i int64) int { // the generation
		if bytes > 0 {
			return 1 + int(p.bytes*int64(o.Generations)/bytes)
		}
		return 1 + int(i*int64(o.Generations)/max(samples, 1))
	}
	for i := int64(0); done(i) <= o.Generations; i++ {
		if g := done(i); p.dict == nil || g != p.dict.generation {
			if err := p.generation(g); err != nil {
				return err
			}
		}
		if err := p.step(i); err != nil {
			return err
		}
	}
	return p.close()
}

// generation begins another dictionary. Writers take it with their next chunk.
func (p *process) generation(g int) error {
	old := p.dict
	if p.options.Grow && g > 1 {
		p.tree = NewStacks(p.options.Seed+uint64(g)<<32+uint64(p.pid), p.options.Stacks)
	}
	p.dict = newDictionary(p, g, p.tree)
	if old != nil && old.writers == 0 {
		return old.close()
	}
	return nil
}

// step writes one sample, and now and then a marker or a count.
func (p *process) step(i int64) error {
	o := p.options
	who := p.random.IntN(len(p.threads))
	t := &p.threads[who]
	t.now += 9_000_000/uint64(len(p.threads)) + uint64(p.random.IntN(1_000_000))
	w := p.writers[(who+int(i>>12))%len(p.writers)] // goroutines move
	if err := p.sample(w, who, t); err != nil {
		return err
	}
	for range due(i, o.Markers) {
		if err := p.marker(w, who, t); err != nil {
			return err
		}
	}
	for range due(i, o.Counts) {
		if err := p.count(w, t); err != nil {
			return err
		}
	}
	return nil
}

// due is how many of things come with sample i, if so many come with 1,000.
func due(i int64, things int) int64 {
	return (i+1)*int64(things)/1000 - i*int64(things)/1000
}

// sample writes one, half of the time with the stack that the thread had.
func (p *process) sample(w *writer, who int, t *thread) error {
	cpu := uint64(8_000_000 + p.random.IntN(4_000_000))
	if err := w.begin(rawformat.KindSample, t.now); err != nil {
		return err
	}
	if tree := w.dict.tree; t.tree != tree || p.random.IntN(100) >= 46 {
		t.tree, t.node = tree, tree.leaves[p.random.IntN(len(tree.leaves))]
	}
	if w.last[who] == t.node && p.random.IntN(4) == 0 {
		w.body[0] = byte(rawformat.KindSameSample)
		w.time(t.now)
		w.fields(tid(who), goroutine(who), 1, cpu+1)
	} else {
		w.time(t.now)
		w.fields(tid(who), goroutine(who), p.track(who), w.dict.stack(t.node)+1, 1, cpu+1, 0)
	}
	w.end()
	w.last[who] = t.node
	p.sum.add(t.node, int64(cpu), p.options)
	p.corpus.Samples++
	return nil
}

func tid(who int) uint64 { return uint64(4000 + who) }

// marker writes an instant of two numbers, or an interval with a text.
func (p *process) marker(w *writer, who int, t *thread) error {
	t.now += uint64(p.random.IntN(50_000))
	if w.who != who || w.file == nil {
		if err := w.begin(rawformat.KindContext, t.now); err != nil {
			return err
		}
		w.fields(goroutine(who), p.track(who), 0)
		w.end()
		w.who = who
	}
	if p.random.IntN(4) != 0 {
		if err := w.begin(rawformat.KindInstant, t.now); err != nil {
			return err
		}
		w.fields(1, 0)
		w.time(t.now)
		w.body = rawformat.AppendArgs(w.body, []rawformat.Arg{rawformat.Int(int64(p.random.IntN(1 << 20))), rawformat.Uint64(uint64(p.random.IntN(100)))})
	} else {
		if err := w.begin(rawformat.KindInterval, t.now); err != nil {
			return err
		}
		w.fields(2, 0)
		w.time(t.now)
		w.fields(uint64(p.random.IntN(2_000_000) * (10 + p.version) / 10))
		path := "/api/v2/orders/" + strconv.Itoa(p.random.IntN(50_000))
		w.body = rawformat.AppendArgs(w.body, []rawformat.Arg{{Wire: rawformat.WireText, Text: []byte(path)}, rawformat.Uint64(200)})
	}
	w.end()
	p.corpus.Markers++
	return nil
}

func (p *process) count(w *writer, t *thread) error {
	if err := w.begin(rawformat.KindCounter, t.now); err != nil {
		return err
	}
	t.heap += int64(p.random.IntN(1<<16)) - 1<<15
	w.time(t.now)
	w.fields(1, rawformat.Zigzag(t.heap), 0)
	w.end()
	p.corpus.Counts++
	return nil
}

// close writes what is open, and how the process ended.
func (p *process) close() error {
	now := p.start
	for _, t := range p.threads {
		now = max(now, t.now)
	}
	for _, w := range p.writers {
		if err := w.seal(now); err != nil {
			return err
		}
	}
	if err := p.dict.close(); err != nil {
		return err
	}
	if dir := p.options.Pprof; dir != "" {
		if err := p.sum.write(filepath.Join(dir, fmt.Sprintf("%016x.pb", p.instance)), p.tree); err != nil {
			return err
		}
	}
	return p.exit(now)
}

func (p *process) exit(now uint64) error {
	b := rawformat.AppendUint([]byte{byte(rawformat.KindExit)}, now)
	b = rawformat.AppendSint(b, p.anchor(now).Realtime)
	b = rawformat.AppendUint(b, uint64(rawformat.ExitStopped))
	b = rawformat.AppendFixed(rawformat.AppendSint(b, 0), 0)
	for _, v := range []uint64{0, 1, p.next, 0} {
		b = rawformat.AppendUint(b, v)
	}
	return p.records("exit", rawformat.MagicExit, rawformat.AppendText(b, ""))
}

func (p *process) meta() error {
	var bodies [][]byte
	for _, m := range []chunks.Meta{
		{Key: rawformat.MetaService, Value: "shop"}, {Key: rawformat.MetaVersion, Value: fmt.Sprintf("1.%d", p.version)}, {Key: rawformat.MetaHost, Value: "host"}, {Key: rawformat.MetaExe, Value: "/bin/shop"},
		{Key: rawformat.MetaPid, Value: fmt.Sprint(p.pid)}, {Key: rawformat.MetaBootID, Value: "boot"},
		{Key: rawformat.MetaStartMono, Value: fmt.Sprint(p.start)}, {Key: rawformat.MetaStartReal, Value: fmt.Sprint(p.anchor(p.start).Realtime)},
	} {
		bodies = append(bodies, rawformat.AppendText(rawformat.AppendText([]byte{byte(rawformat.KindMeta)}, m.Key), m.Value))
	}
	return p.records("meta", rawformat.MagicMeta, bodies...)
}

func (p *process) records(name, magic string, bodies ...[]byte) error {
	h := rawformat.RecordHeader{Magic: magic, Instance: p.instance, Pid: p.pid}
	return chunks.WriteRecords(filepath.Join(p.dir, name), h, bodies...)
}
