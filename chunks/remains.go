package chunks

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"gprof/rawformat"
)

// remains is what an instance left behind. Who has it holds its lock.
type remains struct {
	dir    string
	p      *Process
	held   int64 // bytes of all files
	chunks []remain
	unused []string // names of chunk files that hold nothing
	ended  int64    // realtime of the last commit or of the exit record
}

// remain is one chunk file.
type remain struct {
	image *Image
	done  int64 // realtime; a chunk that was open, or not sealed yet, is done at the end
}

// claim takes the lock of an instance whose owner is dead: the error is
// [ErrLocked] if it isn't, [fs.ErrNotExist] if its directory is gone.
func claim(dir string) (*os.File, error) {
	path := filepath.Join(dir, lockName)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Lock(dir) // nobody can tell whether the owner lives, not even itself
	}
	if err != nil {
		return nil, err
	}
	if err = lockFile(f, false); err == nil {
		err = sameFile(f, path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// sameFile is nil if path names f: another process may have removed it between
// our opening and our locking it.
func sameFile(f *os.File, path string) error {
	mine, err := f.Stat()
	if err != nil {
		return err
	}
	now, err := os.Lstat(path)
	if err == nil && !os.SameFile(mine, now) {
		err = fs.ErrNotExist
	}
	return err
}

// openRemains reads what lies in an instance directory.
func openRemains(dir string) (*remains, error) {
	fsys := os.DirFS(filepath.Dir(dir))
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	r := &remains{dir: dir}
	o := opening{fsys: fsys, p: &Process{Dir: filepath.Base(dir)}}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			r.held += info.Size()
		}
		o.file(path.Join(o.p.Dir, e.Name()))
	}
	if err := o.finish(); err != nil {
		return nil, err
	}
	r.p = o.p
	r.end()
	r.list(entries)
	return r, nil
}

// end finds out when the process ended. When nothing tells, the directory's last
// change is the best guess.
func (r *remains) end() {
	if x := r.p.Exit; x != nil {
		r.ended = x.Realtime
	} else {
		r.ended = r.p.lastCommit().Realtime
	}
	if info, err := os.Stat(r.dir); r.ended <= 0 && err == nil {
		r.ended = info.ModTime().UnixNano()
	}
}

// list sorts the chunks by done time.
func (r *remains) list(entries []os.DirEntry) {
	for _, im := range r.p.Chunks {
		done := r.ended
		if im.Closed && im.Header.Close.Realtime != 0 {
			done = im.Header.Close.Realtime
		}
		r.chunks = append(r.chunks, remain{im, max(1, done)})
	}
	slices.SortFunc(r.chunks, func(a, b remain) int {
		return cmp.Or(cmp.Compare(a.done, b.done), cmp.Compare(a.image.Header.RangeStart, b.image.Header.RangeStart))
	})
	r.unused = r.p.idleFiles(entries)
}

// idleFiles are the chunk files that are not in use. What cannot be read is not
// one of them.
func (p *Process) idleFiles(entries []os.DirEntry) (names []string) {
	known := map[string]bool{}
	for _, im := range slices.Concat(p.Chunks, p.LeftOut) {
		known[im.where()] = true
	}
	for _, pr := range p.Problems {
		known[pr.Where] = known[pr.Where] || pr.Class != Stale
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "chunk-") && !known[e.Name()] {
			names = append(names, e.Name())
		}
	}
	return names
}

// crashed reports whether the process ended otherwise than it should.
func (r *remains) crashed() bool {
	x := r.p.Exit
	return x.Reason != rawformat.ExitStopped && (x.Reason != rawformat.ExitNormal || x.Code != 0)
}

// account is what a slot says of the remains. keep is how long before its end a
// crash is guarded.
func (r *remains) account(keep time.Duration) rawformat.Slot {
	x := r.p.Exit
	s := rawformat.Slot{Kind: rawformat.SlotClean, Held: r.held, Guarded: r.held, Ended: r.ended,
		Start: max(x.RangeStart, r.p.Held), End: x.RangeEnd, Discarded: x.Discarded}
	if r.crashed() && len(r.chunks) > 0 {
		s.Kind = rawformat.SlotCrashed
	}
	s.Oldest[0] = max(1, r.ended) // of the directory, when it has no chunk
	for i, c := range r.chunks {
		s.Chunk = max(s.Chunk, c.image.Size)
		s.Released += c.image.Size
		if i < len(s.Oldest) {
			s.Oldest[i] = c.done
		}
		if c.done < r.ended-int64(keep) {
			s.Guarded -= c.image.Size
		}
	}
	return s
}

// discard removes the chunks that were done at or before, oldest first. The exit
// record says so before they go: a hole that nobody accounts for is a loss.
func (r *remains) discard(done int64) error {
	n := 0
	for n < len(r.chunks) && r.chunks[n].done <= done {
		n++
	}
	x := *r.p.Exit
	x.Discarded += uint64(n)
	x.RangeStart = max(x.RangeStart, lowest(r.chunks[n:], x.RangeEnd))
	if err := r.writeExit(&x); err != nil {
		return err
	}
	for ; n > 0; n-- {
		im := r.chunks[0].image
		if err := os.Remove(filepath.Join(r.dir, im.where())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		r.held -= im.Size
		r.chunks = r.chunks[1:]
	}
	return nil
}

// lowest is the lowest index that chunks hold, end if there are none.
func lowest(chunks []remain, end uint64) uint64 {
	for _, c := range chunks {
		end = min(end, c.image.Header.RangeStart)
	}
	return end
}

// sweep removes the chunk files that hold nothing.
func (r *remains) sweep() (errs error) {
	for _, name := range r.unused {
		file := filepath.Join(r.dir, name)
		info, err := os.Lstat(file)
		if err == nil {
			err = os.Remove(file)
		}
		if err == nil {
			r.held -= info.Size()
		} else if !errors.Is(err, fs.ErrNotExist) {
			errs = errors.Join(errs, err)
		}
	}
	r.unused = nil
	return errs
}

func (r *remains) writeExit(x *Exit) error {
	h := rawformat.RecordHeader{Magic: rawformat.MagicExit, Instance: r.p.Instance, Pid: r.p.Pid}
	if err := WriteRecords(filepath.Join(r.dir, exitName), h, appendExit(nil, x)); err != nil {
		return fmt.Errorf("exit record: %w", err)
	}
	r.p.Exit = x
	return nil
}

// keep is what meta says of how much of a crash is protected.
func (p *Process) keep() time.Duration {
	for _, m := range p.Meta {
		if m.Key == rawformat.MetaKeep {
			ns, err := strconv.ParseInt(m.Value, 10, 64)
			if err == nil {
				return max(0, time.Duration(ns))
			}
		}
	}
	return defaultKeep
}

// defaultKeep is for recordings whose meta does not say.
const defaultKeep = time.Minute

// erase removes an instance directory that nobody needs: our own files by name,
// the lock last. What else lies there keeps the directory.
func erase(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var errs error
	for _, e := range entries {
		if ours(e.Name()) && e.Name() != lockName {
			errs = errors.Join(errs, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	if errs == nil {
		errs = errors.Join(os.Remove(filepath.Join(dir, lockName)), os.Remove(dir))
	}
	return errs
}

// ours reports whether a file in an instance directory bears one of our names.
func ours(name string) bool {
	name = strings.TrimSuffix(name, newSuffix)
	return name == lockName || name == exitName || name == "meta" ||
		strings.HasPrefix(name, "chunk-") || strings.HasPrefix(name, "dict-") || strings.HasPrefix(name, "stacks-")
}

// look finds out whether the owner of a slot died, and takes what it left into
// account.
func (c *Control) look(at int, instance uint64) error {
	dir := c.dir(instance)
	if c.kind(at) != rawformat.SlotLive {
		if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
			return c.release(at, instance)
		}
		return nil
	}
	return c.withClaim(at, instance, c.settle)
}

func (c *Control) kind(at int) rawformat.SlotKind {
	return rawformat.SlotKind(c.load(at+rawformat.OffSlotOwner) >> 32)
}

// withClaim runs f while this process owns the slot and the directory of an
// instance that is dead. It does nothing if the instance lives. If the directory
// is gone the slot is free.
func (c *Control) withClaim(at int, instance uint64, f func(at int, instance uint64) error) error {
	lock, err := claim(c.dir(instance))
	switch {
	case errors.Is(err, ErrLocked):
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return c.release(at, instance)
	case err != nil:
		return err
	}
	defer lock.Close()
	if c.load(at+rawformat.OffSlotInstance) != instance {
		return nil
	}
	return f(at, instance)
}

// release makes a slot free whose directory is gone. If another process has the
// page, that is for later.
func (c *Control) release(at int, instance uint64) error {
	err := c.locked(0, func() error {
		if c.load(at+rawformat.OffSlotInstance) == instance {
			c.wipe(at)
		}
		return nil
	})
	if errors.Is(err, ErrBusy) {
		return nil
	}
	return err
}

// settle takes what a dead instance left into account, and writes its exit
// record if it has none. This process owns slot and directory.
func (c *Control) settle(at int, instance uint64) error {
	r, err := openRemains(c.dir(instance))
	if errors.Is(err, ErrNoRecording) {
		if err := erase(c.dir(instance)); err != nil {
			return err
		}
		return c.release(at, instance)
	}
	if err != nil {
		return err
	}
	if err := r.conclude(c.session, c.slot(at)); err != nil {
		return err
	}
	return errors.Join(r.sweep(), c.bequeath(at, r))
}

// bequeath says at a slot what remains of its owner.
func (c *Control) bequeath(at int, r *remains) error {
	keep := time.Duration(c.load(at + rawformat.OffSlotKeep))
	s := r.account(keep)
	c.publish(at, &s)
	store := func(off int, v uint64) { atomic.StoreUint64(c.word(at+off), v) }
	store(rawformat.OffSlotEnded, uint64(s.Ended))
	store(rawformat.OffSlotGuarded, uint64(s.Guarded))
	store(rawformat.OffSlotRequest, 0)
	store(rawformat.OffSlotOwner, uint64(s.Kind)<<32|uint64(r.p.Pid))
	return nil
}

// conclude writes the exit record of a process that was found dead. slot is
// what it said last.
func (r *remains) conclude(session string, slot rawformat.Slot) error {
	if r.p.Exit != nil {
		return nil
	}
	x := r.p.ended(session, time.Unix(0, r.ended))
	x.RangeStart, x.RangeEnd = max(x.RangeStart, slot.Start), max(x.RangeEnd, slot.End)
	x.Discarded = max(x.Discarded, slot.Discarded)
	return r.writeExit(x)
}

// trim removes the chunks of a dead instance that were done at or before, and
// all of it when no chunk remains.
func (c *Control) trim(at int, instance uint64, done int64) error {
	return c.withClaim(at, instance, func(at int, instance uint64) error {
		r, err := openRemains(c.dir(instance))
		if err == nil && r.p.Exit == nil { // somebody removed it
			err = r.conclude(c.session, c.slot(at))
		}
		if err == nil {
			err = r.discard(done)
		}
		if err != nil && !errors.Is(err, ErrNoRecording) {
			return err
		}
		if err == nil && len(r.chunks) > 0 {
			return c.bequeath(at, r)
		}
		if err := erase(c.dir(instance)); err != nil {
			return err
		}
		return c.release(at, instance)
	})
}

// adopt gives the remains of an instance a slot if it has none and is dead. A
// directory that has just been made is about to be locked.
func (c *Control) adopt(instance uint64) error {
	dir := c.dir(instance)
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return nil // it went meanwhile
	}
	_, err = os.Lstat(filepath.Join(dir, lockName))
	if errors.Is(err, fs.ErrNotExist) && time.Since(info.ModTime()) < time.Minute {
		return nil
	}
	lock, err := claim(dir)
	if errors.Is(err, ErrLocked) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer lock.Close()
	at, err := c.enter(dir, instance)
	if err != nil || at == 0 {
		return err
	}
	return c.settle(at, instance)
}

// enter takes a slot for an instance that is dead; 0 if it has one.
func (c *Control) enter(dir string, instance uint64) (at int, err error) {
	r, err := openRemains(dir)
	if err != nil {
		return 0, nil // none of ours, or not to be read: it stays as it is
	}
	err = c.locked(patience, func() error {
		for i := range c.used() {
			if c.load(slotAt(i)) == instance {
				return nil
			}
		}
		if at, err = c.free(); err != nil {
			return err
		}
		atomic.StoreUint64(c.word(at+rawformat.OffSlotOwner), uint64(rawformat.SlotLive)<<32|uint64(r.p.Pid))
		atomic.StoreUint64(c.word(at+rawformat.OffSlotKeep), uint64(r.p.keep()))
		atomic.StoreUint64(c.word(at+rawformat.OffSlotInstance), instance)
		return nil
	})
	return at, err
}
