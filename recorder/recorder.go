package recorder

import (
	"errors"
	"os"
	"runtime"
	"sync/atomic"

	"gprof/chunks"
	"gprof/chunks/folder"
	"gprof/chunks/session"
	"gprof/rawformat"
	"gprof/recorder/internal/keeper"
	"gprof/recorder/internal/shard"
)

// Errors of [Start]; see there for others.
var (
	ErrRunning = errors.New("a recorder is running in this process")
	ErrSmall   = keeper.ErrSmall // the limit is too small to record anything
)

// Recorder is the recording of this process. All methods work on nil, which records
// nothing, so the result of a Start that failed, or was switched off, needs no check. All methods may be called
// from any goroutine.
type Recorder struct {
	rec    *shard.Recording // markers write into it
	keeper *keeper.Keeper   // looks after it

	files    folder.Folder // of this instance
	dir      string        // their directory; "" if it records in memory
	features Features
	cpu      CPUMode // in use
	session  string  // directory
	lock     *os.File
	dumpDir  string // see Options.Dump; "": nowhere
	environ  environment
	cpuTest  string // the result of the sampler's self-test, for meta
}

// A process has at most one recording, because events are package-level values and must find
// it with a single load.
var (
	running atomic.Pointer[Recorder] // the recorder, also while paused; nil: none
	claimed atomic.Bool              // true from Start to the end of Stop
)

// Stop ends the recording and writes how it ended. It leaves no goroutine, file or mapping
// of the recorder open. A second call does nothing. The error joins those of the disk; all
// data recorded so far can be read nevertheless. With [CPUPprof], Stop waits for the
// runtime to end its profile, up to 0.2 s.
func (r *Recorder) Stop() error {
	if r == nil {
		return nil
	}
	var err error
	r.keeper.StopOnce(func() {
		err = r.keeper.End()
		running.Store(nil)
		errs := []error{err}
		for _, step := range []func() error{r.writeExit, r.keeper.Close, r.dump, r.quitSession} {
			errs = append(errs, shard.Guard(step)) // one failure must not keep the next step from its work
		}
		r.environ.restore()
		claimed.Store(false)
		err = errors.Join(errs...)
	})
	return err
}

// quitSession gives up the session's slot and then the directory's lock. In the other order
// the process would have a slot and no lock, which means that it is dead.
func (r *Recorder) quitSession() error {
	if memory, ok := r.files.(*folder.Memory); ok {
		return memory.Clear()
	}
	return errors.Join(r.keeper.Leave(), r.unlock())
}

// Recording reports whether markers are being recorded now.
func (r *Recorder) Recording() bool { return r != nil && shard.Current.Load() == r.rec }

// Session is the session's directory, "" for nil and with [DirInMemory]. The recordings of
// all its processes are subdirectories.
func (r *Recorder) Session() string {
	if r == nil || r.dir == "" {
		return ""
	}
	return r.session
}

// Instance is the random number that identifies this process in the recording, 0 for nil.
// The name of its directory is that number in 16 hexadecimal digits.
func (r *Recorder) Instance() uint64 {
	if r == nil {
		return 0
	}
	return r.rec.Instance()
}

// Dir is the directory of this process within the session, "" for nil and with
// [DirInMemory].
func (r *Recorder) Dir() string {
	if r == nil {
		return ""
	}
	return r.dir
}

// Err is the error that ended the recording before Stop, such as a bug in the recorder; nil
// as long as all is well, and for nil.
func (r *Recorder) Err() error {
	if r == nil {
		return nil
	}
	return r.rec.Failure()
}

// writeExit writes the exit record.
func (r *Recorder) writeExit() error {
	now, text := r.rec.Clock().Anchor(), ""
	if err := r.Err(); err != nil {
		text = err.Error()
	}
	ring := r.keeper.Ring()
	index, _ := session.IndexNow(r.session, r.environ.parent) // 0: its index is not known
	x := chunks.Exit{Monotonic: now.Monotonic, Realtime: now.Realtime, Reason: exitReason(), Parent: r.environ.parent, ParentIndex: index,
		RangeStart: ring.RangeStart(), RangeEnd: ring.RangeEnd(), Discarded: uint64(ring.Discarded()), Text: text}
	return x.Write(r.files, r.header(rawformat.MagicExit))
}

// exitReason is why the recorder is being stopped. A deferred Stop also runs when its
// goroutine panics. That is not an orderly end, and the recording is kept like that of any
// process that crashed. Calling recover would change what the host prints, so exitReason
// looks at the stack.
func exitReason() rawformat.ExitReason {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs[:])])
	for more := true; more; {
		var f runtime.Frame
		if f, more = frames.Next(); f.Function == "runtime.gopanic" {
			return rawformat.ExitPanic
		}
	}
	return rawformat.ExitStopped
}

func (r *Recorder) header(magic string) rawformat.RecordHeader {
	return rawformat.RecordHeader{Magic: magic, Instance: r.rec.Instance(), Pid: uint32(os.Getpid())}
}

// unlock releases the directory's lock.
func (r *Recorder) unlock() error {
	if r.lock == nil {
		return nil
	}
	return r.lock.Close()
}

// Running is the recorder of this process, also while it is paused; nil before Start and
// after Stop. All its methods work on nil.
func Running() *Recorder { return running.Load() }
