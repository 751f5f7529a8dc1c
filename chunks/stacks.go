package chunks

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"io/fs"
	"math"
	"os"
	"path"
	"slices"
	"sync/atomic"
	"time"

	"gprof/chunks/folder"
	"gprof/chunks/mapping"
	"gprof/rawformat"
)

// Stacks is the stack ring of one thread, in a mapped file. A signal handler writes it, and
// one goroutine drains it.
type Stacks struct {
	mem    *mapping.Mapping
	in     folder.Folder
	name   string
	reader rawformat.StacksReader
	tail   uint64 // up to here it is drained; the tail in the file is for the handler
	lost   uint64 // reported so far
}

// CreateStacks makes the stack ring of the thread h.Tid in a folder. If there is one, it is
// that of a thread that has ended, and is removed.
func CreateStacks(in folder.Folder, h rawformat.StacksHeader) (*Stacks, error) {
	s := &Stacks{in: in, name: StacksFile.FileName(h.Tid)}
	err := in.Remove(s.name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	if s.mem, err = in.Map(s.name, rawformat.StacksFile); err != nil {
		return nil, err
	}
	s.mem.FaultIn()
	h.Version = rawformat.Version
	rawformat.PutStacksHeader(s.Memory(), &h)
	mem := s.Memory()
	s.reader.Word = func(i uint64) uint64 { return *mapping.Word(mem, rawformat.StacksHead+int(8*i)) }
	return s, nil
}

// Memory is where the ring is mapped; it is valid until Close.
func (s *Stacks) Memory() []byte { return s.mem.Bytes() }

// Next reads the oldest record, which stays in the ring until Drained. It returns false if
// there is none. A damaged ring loses what it holds, and err says so once.
func (s *Stacks) Next(rec *rawformat.StackRecord) (ok bool, err error) {
	s.reader.Head = atomic.LoadUint64(mapping.Word(s.Memory(), rawformat.OffStacksHead))
	if ok, err = s.reader.Next(rec); err != nil {
		s.reader.Tail = s.reader.Head
		s.Drained()
	}
	return ok, err
}

// CountFrom says what the thread's CPU clock, in ns, was when the handler's next record
// begins to count. No timer may be running.
func (s *Stacks) CountFrom(cpu int64) {
	atomic.StoreUint64(mapping.Word(s.Memory(), rawformat.OffStacksCPU), uint64(cpu))
}

// Claim says that the block at index will hold what Next has read: a reader that finds that
// block committed counts the record as drained.
func (s *Stacks) Claim(index uint64) {
	atomic.StoreUint64(mapping.Word(s.Memory(), rawformat.OffStacksIndex), 0)
	atomic.StoreUint64(mapping.Word(s.Memory(), rawformat.OffStacksNext), s.reader.Tail)
	atomic.StoreUint64(mapping.Word(s.Memory(), rawformat.OffStacksIndex), index)
}

// Drained frees the room of what Next has read.
func (s *Stacks) Drained() {
	s.tail = s.reader.Tail
	atomic.StoreUint64(mapping.Word(s.Memory(), rawformat.OffStacksTail), s.tail)
}

// Back makes Next read again what was read since Drained.
func (s *Stacks) Back() { s.reader.Tail = s.tail }

// maxLost is more than a thread can lose between two calls of Lost: that many samples take
// half an hour at the highest rate.
const maxLost = 1 << 24

// Lost is how many records found no room since the last call. Another process may have
// changed the count in the file; an impossible one counts as 1.
func (s *Stacks) Lost() uint64 {
	lost := atomic.LoadUint64(mapping.Word(s.Memory(), rawformat.OffStacksLost))
	n := lost - s.lost
	s.lost = lost
	if n > maxLost {
		return 1
	}
	return n
}

// IsCut reports whether the file was cut short by another process. Samples that are written
// from then on do not survive this process.
func (s *Stacks) IsCut() bool { return s.mem.Lost() > 0 }

// Close removes the ring, which should be drained. Nobody may write it any more.
func (s *Stacks) Close() error {
	return errors.Join(s.mem.Close(), s.in.Remove(s.name))
}

// StacksDrained reports whether a stack ring holds nothing.
func StacksDrained(fsys fs.FS, name string) bool {
	in, err := openInput(fsys, name, rawformat.StacksFile)
	if err != nil {
		return false
	}
	defer in.Close()
	head, err := in.read(make([]byte, rawformat.StacksHead), 0)
	if err != nil {
		return false
	}
	h, err := rawformat.ReadStacksHeader(head)
	return err == nil && h.Head == h.Tail
}

// ring is a stack ring that was read. The stack rings of a killed process are read as the
// chunks that it would have written: one for each ring, after all others, with the stacks
// as pcs. They are in memory, and not sealed.
type ring struct {
	name   string
	header rawformat.StacksHeader
	data   []byte
}

// stacks takes a stack ring.
func (o *opening) stacks(name string) {
	r, pr := readStacks(o.fsys, name)
	if errors.Is(pr.err, fs.ErrNotExist) { // it was drained, and its thread has ended
		return
	}
	if o.add(name, pr); r != nil {
		o.rings = append(o.rings, r)
	}
}

func readStacks(fsys fs.FS, name string) (*ring, probe) {
	var pr probe
	in, err := openInput(fsys, name, rawformat.StacksFile)
	if err != nil {
		pr.fail(name, 0, err)
		return nil, pr
	}
	defer in.Close()
	data, err := in.read(make([]byte, rawformat.StacksFile), 0)
	if err == nil && isBeingMade(data) {
		return nil, pr
	}
	pr.ours = bytes.HasPrefix(data, []byte(rawformat.MagicStacks))
	r := &ring{name: name}
	if err == nil {
		r.header, err = rawformat.ReadStacksHeader(data)
	}
	if err == nil && len(data) < rawformat.StacksFile {
		err = &rawformat.Error{Off: int64(len(data)), What: "stack ring", Err: rawformat.ErrTruncated}
	}
	if err != nil {
		pr.fail(name, in.size, err)
		return nil, pr
	}
	r.data = data[min(len(data), rawformat.StacksHead):]
	return r, pr
}

// isBeingMade reports whether a ring has no header yet, or none that is complete: its CRC
// is written last, and records are behind that.
func isBeingMade(ring []byte) bool {
	if len(ring) < rawformat.StacksHead {
		return allZero(ring)
	}
	return allZero(ring[rawformat.OffStacksCRC:][:4]) && allZero(ring[rawformat.OffStacksHead:][:8])
}

// undrained takes what is left in the rings of the process.
func (o *opening) undrained() {
	p := o.p
	o.rings = slices.DeleteFunc(o.rings, func(r *ring) bool { return !o.belongs(r.name, r.header.Instance, int64(len(r.data))) })
	slices.SortFunc(o.rings, func(a, b *ring) int { return cmp.Compare(a.header.Tid, b.header.Tid) })
	for _, r := range o.rings {
		if p.committed(r.header.Index) {
			r.header.Tail = r.header.Next
		}
	}
	drained := p.drainedSince(o.rings)
	for _, r := range o.rings {
		w := restWriter{ring: r, start: restStart + uint64(r.header.Tid)*rawformat.MaxChunkFile, drained: drained}
		if problem := w.records(); problem != "" {
			o.report(Problem{Class: Damaged, Where: path.Base(r.name), What: problem, Blocks: -1, Bytes: int64(r.header.Head-r.header.Tail) * 8})
		}
		if w.blocks > 0 {
			p.Rest = append(p.Rest, w.image(p))
		}
	}
	o.rings = nil
}

// sampleKey identifies a sample of a process.
type sampleKey struct {
	tid  uint32
	time uint64 // ticks
}

// sampleTimes are times of samples by thread, ascending.
type sampleTimes map[uint32][]uint64

// at returns the time of a thread's sample at a tick, or in the grain of them from there on.
func (s sampleTimes) at(tid uint32, tick, grain uint64) (time uint64, ok bool) {
	of := s[tid]
	i, _ := slices.BinarySearch(of, tick)
	if i == len(of) || of[i]-tick >= grain {
		return 0, false
	}
	return of[i], true
}

// drainedSince finds the samples of the rings that chunks hold as well: a tool that copies
// the files of a live process one by one may copy a chunk after the ring, when the
// recorder has moved samples from the ring to the chunk.
func (p *Process) drainedSince(rings []*ring) map[sampleKey]bool {
	held, oldest := sampleTimes{}, uint64(math.MaxUint64)
	for _, r := range rings {
		tid := r.header.Tid
		r.each(func(rec *rawformat.StackRecord) {
			held[tid] = append(held[tid], rec.Time)
			oldest = min(oldest, rec.Time)
		})
		slices.Sort(held[tid])
	}
	if oldest == math.MaxUint64 {
		return nil
	}
	drained := map[sampleKey]bool{}
	for _, im := range p.Chunks {
		if closed := im.Header.Close; im.Closed && max(closed.TSC, closed.Monotonic) < oldest {
			continue // it ended before they were taken
		}
		samples := NewReader([]*Image{im}, nil)
		for now, last := uint64(0), uint64(0); samples.Next(); {
			b := samples.Block()
			now = timeOf(b, now)
			tid, grain := uint64(0), uint64(0)
			switch b.Kind {
			case rawformat.KindSync:
				last = 0
			case rawformat.KindSample:
				b.Fields.Sint("time")
				tid, grain = b.Fields.Uint("thread"), 1
			case rawformat.KindBusy, rawformat.KindBusyFor:
				b.Fields.Sint("time")
				last += uint64(b.Fields.Sint("thread"))
				tid, grain = last, rawformat.SampleUnit
			}
			if at, ours := held.at(uint32(tid), now, grain); ours {
				drained[sampleKey{uint32(tid), at}] = true
			}
		}
	}
	return drained
}

// each calls take for the records from the tail on. It returns what is wrong with the ring;
// the records before that count.
func (r *ring) each(take func(*rawformat.StackRecord)) (problem string) {
	read := rawformat.StacksReader{Tail: r.header.Tail, Head: r.header.Head, Word: func(i uint64) uint64 { return binary.LittleEndian.Uint64(r.data[8*i:]) }}
	for {
		var rec rawformat.StackRecord
		ok, err := read.Next(&rec)
		if err != nil {
			return err.Error()
		}
		if !ok {
			return ""
		}
		take(&rec)
	}
}

// A recorder never hands out these indexes and this epoch.
const (
	restStart = 1 << 62
	restEpoch = 1 << 63
)

// committed reports whether the block at index was written: its chunk says so, or has been
// discarded since.
func (p *Process) committed(index uint64) bool {
	if index == 0 || index < p.Held {
		return index != 0
	}
	for _, im := range p.known() {
		if h := &im.Header; h.RangeStart <= index && index < im.End() {
			return index < h.RangeStart+uint64(h.Commit.Offset())
		}
	}
	return false
}

// restWriter writes the payload of a chunk according to package rawformat.
type restWriter struct {
	ring      *ring
	start     uint64
	payload   []byte
	blocks    uint32
	page      int // in which a block began last, from 1
	last      uint64
	body, pcs []byte
	drained   map[sampleKey]bool
}

// records writes the records of the ring that no chunk holds, and returns what is wrong
// with the ring.
func (w *restWriter) records() (problem string) {
	return w.ring.each(func(rec *rawformat.StackRecord) {
		if !w.drained[sampleKey{w.ring.header.Tid, rec.Time}] {
			w.sample(rec)
		}
	})
}

// sample writes a stack and its sample, both into one page.
func (w *restWriter) sample(rec *rawformat.StackRecord) {
	pcs := rec.Stack()
	w.pcs = rawformat.AppendPCs(append(w.pcs[:0], byte(rawformat.KindStack)), pcs)
	for {
		w.sync(rec.Time)
		w.block(w.pcs)
		if w.page == len(w.payload)/rawformat.PageSize+1 {
			break
		}
	}
	b := append(w.body[:0], byte(rawformat.KindSample))
	b = rawformat.AppendSint(b, int64(rec.Time-w.last))
	for _, v := range [...]uint64{uint64(w.ring.header.Tid), rec.Goroutine, 0, 1, rec.Periods, rec.CPUTime(min(w.ring.header.Period, uint64(time.Second))) + 1, 0} {
		b = rawformat.AppendUint(b, v)
	}
	w.last, w.body = rec.Time, b
	w.block(b)
}

// sync writes a sync block if the next block is the first of its page.
func (w *restWriter) sync(now uint64) {
	for w.page != len(w.payload)/rawformat.PageSize+1 {
		w.page = len(w.payload)/rawformat.PageSize + 1
		b := append(w.body[:0], byte(rawformat.KindSync))
		for _, v := range [...]uint64{w.start + uint64(len(w.payload)), restEpoch, now, 0, 0} {
			b = rawformat.AppendUint(b, v)
		}
		w.last, w.body = now, b
		w.block(b)
	}
}

func (w *restWriter) block(body []byte) {
	w.payload = rawformat.AppendBlock(w.payload, body)
	w.blocks++
}

// image is the chunk, with a file of its own.
func (w *restWriter) image(p *Process) *Image {
	h := rawformat.Header{Version: rawformat.Version, Instance: p.Instance, Epoch: restEpoch, RangeStart: w.start, Capacity: uint32(len(w.payload)),
		Commit: rawformat.MakeCommit(uint32(len(w.payload)), w.blocks), Pid: w.ring.header.Pid, Generation: p.generation(), State: rawformat.StateInUse, Flags: uint16(w.ring.header.Clock) << 8}
	file := make([]byte, rawformat.HeadSize, rawformat.HeadSize+len(w.payload)+rawformat.TrailerSize)
	rawformat.PutHeader(file, &h)
	file = append(file, w.payload...)
	file = file[:len(file)+rawformat.TrailerSize]
	rawformat.PutTrailer(file[len(file)-rawformat.TrailerSize:], h.Instance, h.Epoch)
	return &Image{Name: w.ring.name, Size: int64(len(file)), Header: h, fsys: inMemory(w.ring.name, file)}
}

// generation is that of the latest dictionary, which knows what the process had mapped.
func (p *Process) generation() uint16 {
	latest := uint32(1)
	for _, d := range p.Dicts {
		latest = max(latest, d.Generation)
	}
	return uint16(latest)
}

// inMemory is a file system with one file, whose content is data.
func inMemory(name string, data []byte) fs.FS {
	m := folder.NewMemory()
	if f, err := m.Create(name); err == nil { // it is the first of that name
		f.Write(data) // memory has no errors
		f.Close()
	}
	return m
}
