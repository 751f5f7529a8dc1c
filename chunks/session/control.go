package session

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"gprof/chunks"
	"gprof/chunks/folder"
	"gprof/chunks/mapping"
	"gprof/rawformat"
)

// Errors of a control page.
var (
	ErrBusy  = errors.New("another process holds the control page's lock")
	ErrSlots = errors.New("no slot is free")
)

const (
	// DefaultLimit is the limit of a session if none was asked for, in bytes.
	DefaultLimit = 64 << 20

	// patience is how long a start waits for another process that is changing the
	// control page, which takes some microseconds unless that process was stopped.
	patience = time.Second
)

// Options say how a control page is opened.
type Options struct {
	Existing   bool  // make none: the error is fs.ErrNotExist then
	Limit      int64 // bytes, for a session that has no limit yet; 0: DefaultLimit
	LimitAsked bool  // Limit replaces that of the session
}

// Control is the control page of a session, shared by all its processes. Any goroutine
// may call its methods; Close must be the last call.
type Control struct {
	session string
	file    *os.File
	mem     []byte
	mu      sync.Mutex // does within this process what flock does between processes

	// The latest values of the page, in case it is cut short.
	limit   atomic.Int64
	command atomic.Uint64
}

// Open opens the control page in the directory of a session, which must exist, and makes
// the page if there is none, as open to others as the directory. One that was cut short
// or damaged is repaired in place, so that all processes keep sharing it. A file that is
// not ours, or newer than we are, is left alone: the error is of class
// [rawformat.ErrMagic] or [rawformat.ErrVersion]. [ErrBusy] means that another process
// was stopped while it changed the page, [folder.ErrForeign] that others who should not
// could change it. Where files cannot be mapped the error is [errors.ErrUnsupported].
func Open(session string, o Options) (*Control, error) {
	f, err := openControlFile(filepath.Join(session, chunks.ControlName), o.Existing)
	if err != nil {
		return nil, err
	}
	if err := folder.CheckControl(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	c := &Control{session: session, file: f}
	if err := c.open(o); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// openControlFile opens the file or makes it. Others may make and remove it at the same
// time, so it tries again, but not for ever. A file that another user has just made may
// not be opened to the group yet.
func openControlFile(path string, existing bool) (f *os.File, err error) {
	for range 10 {
		f, err = folder.OpenFile(path, os.O_RDWR|folder.OpenCarefully)
		if errors.Is(err, fs.ErrPermission) {
			time.Sleep(time.Millisecond)
			continue
		}
		if err == nil || existing || !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
		if f, err = folder.Create(path); !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
	return nil, err
}

// open maps the page:
//
//  1. If it is not whole it is repaired, by one process at a time.
//  2. The limit is stored if the session has none, or it was asked for.
func (c *Control) open(o Options) error {
	if err := c.makeWhole(); err != nil {
		return err
	}
	mem, err := mapping.MapFile(c.file, rawformat.ControlSize)
	if err != nil {
		return err
	}
	c.mem = mem
	return c.guard(func() error {
		if limit := o.limit(); o.LimitAsked {
			c.setLimit(limit)
		} else {
			atomic.CompareAndSwapUint64(c.word(rawformat.OffControlLimit), 0, uint64(limit))
		}
		return nil
	})
}

func (o *Options) limit() int64 {
	if o.Limit <= 0 {
		return DefaultLimit
	}
	return min(o.Limit, rawformat.MaxLimit)
}

// makeWhole repairs the page if necessary.
func (c *Control) makeWhole() error {
	whole, err := c.inspect()
	if err != nil || whole {
		return err
	}
	return c.locked(patience, c.repair)
}

// inspect reports whether the page is whole. The error means that it must not be
// repaired.
func (c *Control) inspect() (bool, error) {
	info, err := c.file.Stat()
	if err != nil {
		return false, err
	}
	if !info.Mode().IsRegular() {
		return false, &fs.PathError{Op: "open", Path: c.file.Name(), Err: chunks.ErrNotRegular}
	}
	head := make([]byte, rawformat.ControlHeadSize)
	n, _ := c.file.ReadAt(head, 0) // bytes that cannot be read count as missing
	if n < 4 || string(head[:4]) == "\x00\x00\x00\x00" {
		return false, nil // it was being made
	}
	_, err = rawformat.ReadControl(head)
	if errors.Is(err, rawformat.ErrMagic) || errors.Is(err, rawformat.ErrVersion) {
		return false, fmt.Errorf("%s: %w; give another directory, or remove the file", c.file.Name(), err)
	}
	return err == nil && info.Size() >= rawformat.ControlSize, nil
}

// repair makes the page whole. Impossible values are cleared; slots are checked when
// they are used.
func (c *Control) repair() error {
	if whole, err := c.inspect(); whole || err != nil {
		return err // another process was quicker
	}
	if err := c.lengthen(); err != nil {
		return err
	}
	head := make([]byte, rawformat.ControlHeadSize)
	if _, err := c.file.ReadAt(head, 0); err != nil {
		return err
	}
	rawformat.PutControl(head, time.Now().UnixNano())
	if _, err := rawformat.ReadControl(head); err != nil {
		clear(head[rawformat.OffControlLimit:][:8])
	}
	_, err := c.file.WriteAt(head, 0)
	return err
}

// lengthen gives the file its full size and reserves space on the disk for each byte:
// a store to a mapped byte without space would kill the host.
func (c *Control) lengthen() error {
	err := mapping.Reserve(c.file, rawformat.ControlSize)
	if err == nil {
		return nil
	}
	info, statErr := c.file.Stat()
	if statErr != nil {
		return statErr
	}
	if !mapping.CannotReserve(err) || info.Size() >= rawformat.ControlSize {
		return err
	}
	_, err = c.file.WriteAt(make([]byte, rawformat.ControlSize-info.Size()), info.Size())
	return err
}

// locked runs f under the page's lock, for which it waits so long.
func (c *Control) locked(wait time.Duration, f func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	deadline := time.Now().Add(wait)
	for {
		err := folder.TryLock(c.file, false)
		if err == nil {
			break
		}
		if !errors.Is(err, folder.ErrLocked) {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s: %w", c.file.Name(), ErrBusy)
		}
		time.Sleep(time.Millisecond)
	}
	defer folder.Unlock(c.file) // deferred, as a fault may end f; closing the file unlocks it in any case
	return f()
}

// guard runs f, which uses the page. If the file is cut short meanwhile, the host must
// not die of it: the error is [mapping.ErrCut].
func (c *Control) guard(f func() error) (err error) {
	if c.mem == nil {
		return fmt.Errorf("control page: %w", os.ErrClosed)
	}
	if err = mapping.Survive(f); err == mapping.ErrCut {
		return fmt.Errorf("%s: %w", c.path(), err)
	}
	return err
}

func (c *Control) path() string { return filepath.Join(c.session, chunks.ControlName) }

func (c *Control) word(off int) *uint64 { return mapping.Word(c.mem, off) }

func (c *Control) load(off int) uint64 { return atomic.LoadUint64(c.word(off)) }

// Limit is how many bytes all processes of the session may hold together, without the
// control page itself.
func (c *Control) Limit() int64 {
	c.guard(func() error { // if it cannot be read, the old value holds
		limit := c.load(rawformat.OffControlLimit)
		if limit > 0 && limit <= rawformat.MaxLimit {
			c.limit.Store(int64(limit))
		}
		return nil
	})
	return cmp.Or(c.limit.Load(), DefaultLimit)
}

// setLimit changes the limit to between 1 byte and [rawformat.MaxLimit]. Processes
// adopt it at their next tick.
func (c *Control) setLimit(limit int64) error {
	limit = min(max(limit, 1), rawformat.MaxLimit)
	return c.guard(func() error {
		atomic.StoreUint64(c.word(rawformat.OffControlLimit), uint64(limit))
		return nil
	})
}

// Command tells all processes of the session what to do. A process has done so when
// Obeyed in its slot is at least the generation that Command returns.
func (c *Control) Command(what rawformat.Command) (generation uint64, err error) {
	err = c.guard(func() error {
		for {
			old := c.load(rawformat.OffControlCommand)
			generation = min(max(old, c.command.Load())>>8+1, rawformat.MaxGeneration)
			if atomic.CompareAndSwapUint64(c.word(rawformat.OffControlCommand), old, generation<<8|uint64(what)) {
				return nil
			}
		}
	})
	return generation, err
}

// State returns the last command and its generation; start and 0 if there was none.
func (c *Control) State() (what rawformat.Command, generation uint64) {
	c.guard(func() error { // if it cannot be read, the old value holds
		c.command.Store(max(c.command.Load(), c.load(rawformat.OffControlCommand)))
		return nil
	})
	w := c.command.Load()
	return rawformat.Command(w), w >> 8
}

// Close ends the use of the page by this process, which must have left its slot.
func (c *Control) Close() error {
	var err error
	if c.mem != nil {
		err = mapping.UnmapFile(c.mem)
		c.mem = nil
	}
	return errors.Join(err, c.file.Close())
}

// heal repairs a page that was cut short.
func (c *Control) heal() error {
	if err := c.locked(patience, c.repair); err != nil {
		return err
	}
	c.remind()
	return nil
}

// follow goes over to the page that has the name now, if the one in use was removed or
// replaced: processes that start from now on use that one, and all must know of each
// other. The mapping keeps its address, because other goroutines may be using it.
func (c *Control) follow() error {
	if mapping.MappedKeepsName {
		return nil
	}
	if err := sameFile(c.file, c.path()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := openControlFile(c.path(), false)
	if err != nil {
		return err
	}
	next := &Control{session: c.session, file: f}
	if err = folder.CheckControl(f); err == nil {
		err = next.makeWhole()
	}
	if err == nil {
		err = mapping.RemapFile(f, c.mem)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	c.mu.Lock()
	c.file, f = f, c.file
	c.mu.Unlock()
	c.remind()
	return f.Close()
}

// remind restores the limit and the last command in a page that has lost them.
func (c *Control) remind() {
	atomic.CompareAndSwapUint64(c.word(rawformat.OffControlLimit), 0, uint64(c.limit.Load()))
	raise(c.word(rawformat.OffControlCommand), int64(c.command.Load()))
}
