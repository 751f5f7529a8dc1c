package chunks

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"gprof/rawformat"
)

// End is how a process ended, as its parent saw it.
type End struct {
	Pid    uint32
	Code   int // exit status
	Signal int // what killed it, 0: nothing did
}

// WriteExit writes the exit record of a process that could not write it itself,
// in its instance directory. It does nothing where that process is another one,
// where its recorder still holds the lock, or where it told its exit.
//
// The record's ranges are what the headers of the chunks tell. The error is the
// disk's, or [ErrNoRecording].
func WriteExit(dir string, e End) error {
	path := filepath.Join(dir, "exit")
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if Alive(dir) {
		return nil
	}
	p, err := OpenProcess(os.DirFS(filepath.Dir(dir)), filepath.Base(dir))
	if err != nil || p.Pid != e.Pid {
		return err
	}
	h := rawformat.RecordHeader{Magic: rawformat.MagicExit, Instance: p.Instance, Pid: p.Pid}
	if err := WriteRecords(path, h, appendExit(nil, p.ended(e, time.Now()))); err != nil {
		return fmt.Errorf("exit record: %w", err)
	}
	return nil
}

// ended is what is known of the end of a process that died before now.
func (p *Process) ended(e End, now time.Time) *Exit {
	x := &Exit{Realtime: now.UnixNano(), Reason: rawformat.ExitNormal, Code: int64(e.Code), RangeStart: p.Held}
	if e.Signal != 0 {
		x.Reason, x.Code = rawformat.ExitSignal, int64(e.Signal)
	}
	var last rawformat.Anchor
	for _, im := range p.Chunks {
		x.RangeEnd = max(x.RangeEnd, im.End())
		x.Discarded = max(x.Discarded, uint64(im.Header.Discarded))
		for _, a := range []rawformat.Anchor{im.Header.Open, im.Header.Close} {
			if a.Monotonic > last.Monotonic {
				last = a
			}
		}
	}
	// The wall clock tells how long ago the last anchor was.
	x.Monotonic = last.Monotonic
	if last.Monotonic != 0 && x.Realtime > last.Realtime {
		x.Monotonic += uint64(x.Realtime - last.Realtime)
	}
	x.Parent = p.parent()
	return x
}

// parent is the instance that meta names, 0 none.
func (p *Process) parent() uint64 {
	for _, m := range p.Meta {
		if m.Key == rawformat.MetaParent {
			instance, err := strconv.ParseUint(m.Value, 16, 64)
			if err == nil {
				return instance
			}
		}
	}
	return 0
}

// appendExit appends the body of an exit record.
func appendExit(dst []byte, x *Exit) []byte {
	dst = rawformat.AppendUint(append(dst, byte(rawformat.KindExit)), x.Monotonic)
	dst = rawformat.AppendSint(dst, x.Realtime)
	dst = rawformat.AppendUint(dst, uint64(x.Reason))
	dst = rawformat.AppendSint(dst, x.Code)
	dst = rawformat.AppendFixed(dst, x.Parent)
	for _, v := range []uint64{x.ParentIndex, x.RangeStart, x.RangeEnd, x.Discarded} {
		dst = rawformat.AppendUint(dst, v)
	}
	return rawformat.AppendText(dst, x.Text)
}
