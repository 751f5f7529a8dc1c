package attach

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"time"

	"gprof/chunks"
	"gprof/chunks/folder"
	"gprof/chunks/ring"
	"gprof/chunks/session"
	"gprof/rawformat"
)

// recording is the recording of a process: an instance of the session.
type recording struct {
	instance uint64
	pid      uint32
	dir      string
	parent   uint64 // instance, 0 none
	lock     *os.File
	slot     *session.Slot
	ring     *ring.Ring
	writer   writer
	dict     *dictionary
	old      []oldDict // dictionaries that chunks may still name

	lost, told [numLosses]uint64
	trouble    error // the first of the disk's
}

// oldDict is a dictionary that takes no more definitions.
type oldDict struct {
	generation uint16
	size       int64
}

const (
	numLosses = int(rawformat.LostDeep) + 1

	// chunkFile is the size of a chunk. It is small, because each of the processes has two
	// chunks at least.
	chunkFile = rawformat.ChunkAlign

	// dictShare is a dictionary's largest part of what a process may hold: one in so many.
	dictShare = 16

	maxGeneration = 1<<16 - 1
)

// record begins a recording, its parts in the order in which they need each other. On an
// error nothing is left.
func (s *Sampler) record(p *process) (r *recording, err error) {
	r = &recording{instance: newInstance(), pid: uint32(p.pid), writer: writer{page: noPage, generation: 1}}
	r.dir = filepath.Join(s.o.Session, folder.InstanceName(r.instance))
	if p.parent != nil && p.parent.into != nil {
		r.parent = p.parent.into.instance
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.abandon())
		}
	}()
	if err = folder.MakeInstance(r.dir, 0o700); err != nil {
		return nil, err
	}
	if r.lock, err = session.Lock(r.dir); err != nil {
		return nil, err
	}
	if r.slot, err = s.control.Join(session.Member{Instance: r.instance, Pid: r.pid, Keep: keep}); r.slot == nil {
		return nil, err
	}
	if err = r.beginGeneration(1); err != nil {
		return nil, err
	}
	r.ring, err = ring.Open(folder.Dir(r.dir), ring.Options{Instance: r.instance, Pid: r.pid, ChunkFile: chunkFile, Slot: r.slot, Clock: rawformat.ClockMonotonic, Anchor: anchor})
	if err != nil {
		return nil, err
	}
	r.writer.ring = r.ring
	r.ring.Charge(r.dict.file.Size())
	if err = chunks.WriteRecords(folder.Dir(r.dir), chunks.MetaName, r.header(rawformat.MagicMeta), s.meta(p, r)...); err != nil {
		return nil, err
	}
	return r, nil
}

// keep is how much of a recording that was cut off is protected, as in package recorder.
const keep = 60 * time.Second

func newInstance() uint64 {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return max(1, binary.LittleEndian.Uint64(b[:]))
}

func (r *recording) header(magic string) rawformat.RecordHeader {
	return rawformat.RecordHeader{Magic: magic, Instance: r.instance, Pid: r.pid}
}

// beginGeneration begins a generation of the dictionary.
func (r *recording) beginGeneration(generation uint16) error {
	file, err := chunks.CreateDict(folder.Dir(r.dir), r.instance, uint32(generation), r.pid)
	if err != nil {
		return err
	}
	r.dict = newDictionary(file, max(chunkFile, r.slot.Share()/dictShare))
	r.writer.generation = generation
	return nil
}

// rotateDictionary begins another dictionary when the present one has outgrown its bound, and
// removes those that no chunk names any more.
func (r *recording) rotateDictionary() {
	var left []oldDict
	for _, o := range r.old {
		if r.ring.Names(o.generation) {
			left = append(left, o)
			continue
		}
		r.complain(chunks.RemoveDict(folder.Dir(r.dir), uint32(o.generation)))
		r.ring.Charge(-o.size)
	}
	r.old = left
	generation := r.writer.generation
	if !r.dict.isOutgrown() || len(r.old) > 0 && !r.dict.full && !r.dict.isTooLarge() || generation == maxGeneration {
		return
	}
	before := r.dict
	if err := r.beginGeneration(generation + 1); err != nil {
		r.complain(err)
		return
	}
	r.writer.retire() // its chunk names the old one
	r.old = append(r.old, oldDict{generation, before.file.Size()})
	r.complain(before.file.Close())
	r.ring.Charge(r.dict.file.Size())
}

// makeRoom makes sure that the dictionary has room for the next block. It may invalidate
// all ids.
func (r *recording) makeRoom() {
	if r.dict.isTooLarge() {
		r.rotateDictionary()
	}
}

// intern returns the id of a stack.
func (r *recording) intern(p *process, frames []frame) uint32 {
	before := r.dict.file.Size()
	id := r.dict.stack(p, frames)
	r.charge(before)
	if id == 0 && len(frames) > 0 {
		r.lost[rawformat.LostDictionary]++
	}
	return id
}

// track returns the id of a thread's track.
func (r *recording) track(p *process, tid int32) uint32 {
	t := p.thread(tid)
	if t.generation != r.writer.generation {
		before := r.dict.file.Size()
		t.track, t.generation = r.dict.track(p.trackName(tid, t)), r.writer.generation
		r.charge(before)
	}
	return t.track
}

func (r *recording) charge(before int64) {
	if grown := r.dict.file.Size() - before; grown != 0 {
		r.ring.Charge(grown)
	}
}

// upkeep is done now and then: it writes losses, turns the dictionary, and keeps ring and
// session below their limits.
func (r *recording) upkeep(now time.Time) {
	r.writeLosses()
	r.rotateDictionary()
	r.complain(r.ring.Maintain())
	r.complain(r.slot.Balance(now))
}

// pause writes that nothing is recorded from now on, or that it is again.
func (r *recording) pause(begins bool) {
	kind := rawformat.KindResume
	if begins {
		kind = rawformat.KindPause
	}
	r.writer.entry(kind, anchor().Monotonic, uint64(rawformat.PauseAll))
}

// writeLosses writes what was lost since the last time.
func (r *recording) writeLosses() {
	r.lost[rawformat.LostNoChunk] += r.writer.dropped
	r.writer.dropped = 0
	for reason, count := range r.lost {
		if news := count - r.told[reason]; news > 0 && r.writer.entry(rawformat.KindLost, anchor().Monotonic, uint64(reason), news, 0) {
			r.told[reason] = count
		}
	}
}

func (r *recording) complain(err error) {
	if r.trouble == nil {
		r.trouble = err
	}
}

// end seals the recording and writes how it ended.
func (r *recording) end(dir string, reason rawformat.ExitReason, text string) error {
	r.writeLosses()
	r.writer.retire()
	if r.trouble != nil {
		text = r.trouble.Error()
	}
	now := anchor()
	index, _ := session.IndexNow(dir, r.parent) // 0: nothing is known of it
	x := chunks.Exit{Monotonic: now.Monotonic, Realtime: now.Realtime, Reason: reason, Parent: r.parent, ParentIndex: index,
		RangeStart: r.ring.RangeStart(), RangeEnd: r.ring.RangeEnd(), Discarded: uint64(r.ring.Discarded()), Text: text}
	return errors.Join(r.trouble, x.Write(folder.Dir(r.dir), r.header(rawformat.MagicExit)), r.close())
}

// close closes the files of the directory.
func (r *recording) close() error {
	var errs []error
	if r.ring != nil {
		errs = append(errs, r.ring.Close())
	}
	if r.dict != nil {
		errs = append(errs, r.dict.file.Close())
	}
	if r.slot != nil {
		errs = append(errs, r.slot.Leave())
	}
	if r.lock != nil {
		errs = append(errs, r.lock.Close())
	}
	return errors.Join(errs...)
}

// abandon undoes record.
func (r *recording) abandon() error {
	err := os.RemoveAll(r.dir) // first: without a directory the instance is gone for good
	return errors.Join(r.close(), err)
}
