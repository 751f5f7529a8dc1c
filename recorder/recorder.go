package recorder

import (
	"errors"
	"fmt"
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

// Errors of [Start].
var (
	ErrRunning = errors.New("a recorder is running in this process")
	ErrOff     = errors.New("switched off by GPROF=off")
	ErrSmall   = keeper.ErrSmall // limit too small to record anything
)

// Recorder is the recording of this process. All methods work on nil, which
// records nothing: the result of a Start that failed needs no check. They may
// be called by any goroutine.
type Recorder struct {
	rec    *shard.Recording // what markers write into
	keeper *keeper.Keeper   // who looks after it

	files    folder.Folder // of this instance
	dir      string        // the same; "": it records in memory
	features Features
	cpu      CPUMode // in use
	session  string  // directory
	lock     *os.File
	dumpDir  string // "": nowhere
	environ  environment
	cpuTest  string // what came of the sampler's self-test
}

// There is one recording in a process, because events are package-level values
// and must find it; and they must find it with one load.
var (
	running atomic.Pointer[Recorder] // also while paused
	claimed atomic.Bool              // from Start to the end of Stop
)

// Start begins to record. What o leaves open comes from the environment, see
// [Settings], else is a default. On an error nothing records, and the program
// should go on: every method works on the nil Recorder that comes with it. The
// error is [ErrRunning], [ErrOff], [ErrNoRoom], [ErrSmall], also when the session
// has too many processes for its limit, [session.ErrSlots] when it has too many
// for any, [folder.ErrForeign] when somebody else could change what is recorded there,
// one of a setting that is malformed, or the file system's.
//
// Where package auto has started a recorder, the first Start returns that one:
// it goes on with what the environment says, and o is passed over.
func Start(o Options) (*Recorder, error) {
	Help(os.Stderr)
	if !claimed.CompareAndSwap(false, true) {
		if r := takeOver(); r != nil {
			return r, nil
		}
		return nil, ErrRunning
	}
	var r *Recorder
	err := shard.Guard(func() (err error) {
		r, err = open(o)
		return err
	})
	if err != nil {
		claimed.Store(false)
		return nil, fmt.Errorf("recorder: %w", err)
	}
	return r, nil
}

// Stop ends the recording and writes how it ended. No goroutine, file or mapping
// of the recorder is left. Stopping twice does nothing. The error is the first
// of the disk's; what was recorded until then can be read all the same. With
// [CPUPprof] it waits for the runtime to end its profile, up to 0.2 s.
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
			errs = append(errs, shard.Guard(step)) // one that fails must not keep the next from its work
		}
		r.environ.restore()
		claimed.Store(false)
		err = errors.Join(errs...)
	})
	return err
}

// quitSession gives slot and directory up, in this order: what has a slot and
// no lock counts as dead.
func (r *Recorder) quitSession() error {
	if memory, ok := r.files.(*folder.Memory); ok {
		return memory.Clear()
	}
	return errors.Join(r.keeper.Leave(), r.unlock())
}

// Recording reports whether markers are recorded now.
func (r *Recorder) Recording() bool { return r != nil && shard.Current.Load() == r.rec }

// Session is the session's directory, "" for nil and [DirInMemory]. Processes that are
// recorded together lie in it side by side.
func (r *Recorder) Session() string {
	if r == nil || r.dir == "" {
		return ""
	}
	return r.session
}

// Instance is the random number by which the recording calls this process, 0
// for nil. Its directory is named after it, in 16 hexadecimal digits.
func (r *Recorder) Instance() uint64 {
	if r == nil {
		return 0
	}
	return r.rec.Instance()
}

// Dir is the directory of this process within the session, "" for nil and [DirInMemory].
func (r *Recorder) Dir() string {
	if r == nil {
		return ""
	}
	return r.dir
}

// Err is what ended the recording before Stop: a bug of the recorder. Nil as
// long as all is well.
func (r *Recorder) Err() error {
	if r == nil {
		return nil
	}
	return r.rec.Failure()
}

// writeExit tells the end of the recording.
func (r *Recorder) writeExit() error {
	now, text := r.rec.Clock().Anchor(), ""
	if err := r.Err(); err != nil {
		text = err.Error()
	}
	ring := r.keeper.Ring()
	index, _ := session.IndexNow(r.session, r.environ.parent) // 0: nothing is known of it
	x := chunks.Exit{Monotonic: now.Monotonic, Realtime: now.Realtime, Reason: exitReason(), Parent: r.environ.parent, ParentIndex: index,
		RangeStart: ring.RangeStart(), RangeEnd: ring.RangeEnd(), Discarded: uint64(ring.Discarded()), Text: text}
	return x.Write(r.files, r.header(rawformat.MagicExit))
}

// exitReason is why the recorder is being stopped. A deferred Stop also runs when
// its goroutine panics: that is no end in order, and what such a process leaves
// is kept as that of any other that crashed. Calling recover would change what
// the host prints, so the stack tells.
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

// unlock gives the directory up.
func (r *Recorder) unlock() error {
	if r.lock == nil {
		return nil
	}
	return r.lock.Close()
}
