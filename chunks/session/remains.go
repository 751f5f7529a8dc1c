package session

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gprof/chunks"
	"gprof/chunks/folder"
	"gprof/rawformat"
)

// remains is what an instance left behind. To change it a process must hold the lock of
// the instance.
type remains struct {
	dir    string
	p      *chunks.Process
	held   int64 // bytes of all files
	exit   int64 // bytes of the exit record, of held
	chunks []remain
	unused []string         // names of files that hold nothing
	broken int              // chunk files that cannot be read
	last   rawformat.Anchor // of the last commit, when there is no exit record
	ended  int64            // realtime of the last commit or of the exit record
}

// remain is one chunk file.
type remain struct {
	image *chunks.Image
	done  int64 // realtime, not 0
}

// openRemains reads what lies in an instance directory.
func openRemains(dir string) (*remains, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	p, err := chunks.Survey(os.DirFS(filepath.Dir(dir)), filepath.Base(dir), entries)
	if err != nil {
		return nil, err
	}
	r := &remains{dir: dir, p: p}
	for _, e := range entries {
		r.held += sizeOf(filepath.Join(dir, e.Name()))
	}
	r.exit = sizeOf(filepath.Join(dir, chunks.ExitName))
	r.end()
	r.list(entries)
	return r, nil
}

// end finds out when the process ended. If its files don't say, the last change of the
// directory is the best guess.
func (r *remains) end() {
	if x := r.p.Exit; x != nil {
		r.ended = x.Realtime
	} else {
		r.last = r.p.LastCommit()
		r.ended = r.last.Realtime
	}
	if info, err := os.Stat(r.dir); r.ended <= 0 && err == nil {
		r.ended = info.ModTime().UnixNano()
	}
}

// list sorts the chunks by done time. A chunk that was not sealed yet counts as done
// when its writer opened the next one, or when the process ended.
func (r *remains) list(entries []os.DirEntry) {
	now := time.Now().UnixNano()
	next := map[uint16]int64{} // by writer: when the chunk after this one was opened
	for _, im := range slices.Backward(r.p.Chunks) {
		done, ok := next[im.Header.Writer]
		if !ok || done == 0 {
			done = r.ended
		}
		if im.Closed && im.Header.Close.Realtime != 0 {
			done = im.Header.Close.Realtime
		}
		next[im.Header.Writer] = im.Header.Open.Realtime
		r.chunks = append(r.chunks, remain{im, max(1, Plausible(done, now))})
	}
	slices.SortFunc(r.chunks, func(a, b remain) int {
		return cmp.Or(cmp.Compare(a.done, b.done), cmp.Compare(a.image.Header.RangeStart, b.image.Header.RangeStart))
	})
	r.sort(entries)
}

// sort classifies the other files: those that are not in use, such as drained stack
// rings, and chunk files that cannot be read.
func (r *remains) sort(entries []os.DirEntry) {
	used, bad := map[string]bool{}, map[string]bool{}
	for _, im := range r.p.Chunks {
		used[path.Base(im.Name)] = true
	}
	for _, pr := range r.p.Problems {
		bad[pr.Where] = bad[pr.Where] || pr.Class != chunks.Stale
	}
	for _, im := range r.p.LeftOut {
		bad[path.Base(im.Name)] = true
	}
	for _, e := range entries {
		switch name := e.Name(); {
		case strings.HasSuffix(name, chunks.NewSuffix):
			if chunks.KindOf(strings.TrimSuffix(name, chunks.NewSuffix)) == chunks.TraceFile { // its writer was killed
				r.unused = append(r.unused, name)
			}
		case chunks.KindOf(name) == chunks.StacksFile:
			if chunks.StacksDrained(os.DirFS(r.dir), name) {
				r.unused = append(r.unused, name)
			}
		case chunks.KindOf(name) != chunks.ChunkFile || used[name]:
		case bad[name]:
			r.broken++
		default:
			r.unused = append(r.unused, name)
		}
	}
}

// empty reports whether a process that was found dead left nothing worth keeping.
func (r *remains) empty() bool { return !r.told() && len(r.chunks) == 0 && r.broken == 0 }

// crashed reports whether the process did not end as it should.
func (r *remains) crashed() bool {
	x := r.p.Exit
	return x.Reason != rawformat.ExitStopped && (x.Reason != rawformat.ExitNormal || x.Code != 0)
}

// conclude writes the exit record of a process that was found dead. slot is its last
// publication.
func (r *remains) conclude(session string, slot rawformat.Slot) error {
	if r.p.Exit != nil {
		return nil
	}
	x := r.conclusion(session, time.Unix(0, r.ended))
	x.RangeStart, x.RangeEnd = max(x.RangeStart, slot.Start), max(x.RangeEnd, slot.End)
	x.Discarded = max(x.Discarded, slot.Discarded)
	return r.writeExit(x)
}

// account is what the slot should say of the remains. keep is how long before a crash
// recorded data is guarded.
func (r *remains) account(keep time.Duration) rawformat.Slot {
	x := r.p.Exit
	s := rawformat.Slot{Kind: rawformat.SlotClean, Held: r.held, Guarded: r.held, Ended: Plausible(r.ended, time.Now().UnixNano()),
		Start: max(x.RangeStart, r.p.Held), End: x.RangeEnd, Discarded: x.Discarded}
	switch {
	case r.crashed() && len(r.chunks) > 0:
		s.Kind = rawformat.SlotCrashed
	case !r.crashed() && len(r.chunks) > 0 && x.Parent != 0 && x.ParentIndex != 0:
		s.Kind, s.Parent, s.Mark = rawformat.SlotChild, x.Parent, x.ParentIndex
	}
	s.Oldest[0] = max(1, s.Ended) // for a directory without chunks
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

// discard removes the chunks that were done at or before a time, oldest first, as long as
// guard bytes are left. The exit record says so before they are removed, because a hole
// that nothing accounts for would be a loss. If the disk has no room for the record, they
// are removed first. A chunk before the range start is counted already: the process that
// counted it was killed before it removed it.
func (r *remains) discard(done, guard int64) error {
	n, left := 0, r.held
	x := *r.p.Exit
	for n < len(r.chunks) && r.chunks[n].done <= done && left-r.chunks[n].image.Size >= guard {
		if r.chunks[n].image.Header.RangeStart >= r.p.Exit.RangeStart {
			x.Discarded++
		}
		left -= r.chunks[n].image.Size
		n++
	}
	x.RangeStart = max(x.RangeStart, lowest(r.chunks[n:], x.RangeEnd))
	full := r.writeExit(&x)
	for ; n > 0; n-- {
		im := r.chunks[0].image
		if err := remove(filepath.Join(r.dir, path.Base(im.Name))); err != nil {
			return err
		}
		r.held -= im.Size
		r.chunks = r.chunks[1:]
	}
	err := r.dropTraces()
	if full != nil {
		err = errors.Join(err, r.writeExit(&x))
	}
	return err
}

// dropTraces removes the windows of the execution trace that were written before the
// oldest chunk that is left was done.
func (r *remains) dropTraces() (errs error) {
	if len(r.chunks) == 0 {
		return nil // everything will be removed
	}
	for _, t := range r.p.Traces {
		info, err := os.Lstat(filepath.Join(r.dir, t.Name))
		if err == nil && info.ModTime().UnixNano() < r.chunks[0].done {
			errs = errors.Join(errs, chunks.RemoveTrace(folder.Dir(r.dir), t))
			r.held -= t.Size
		}
	}
	return errs
}

// remove removes a file if it exists.
func remove(path string) error {
	err := folder.RemoveFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// lowest is the lowest index that chunks hold, end if there are none.
func lowest(chunks []remain, end uint64) uint64 {
	for _, c := range chunks {
		end = min(end, c.image.Header.RangeStart)
	}
	return end
}

// sweep removes the files that hold nothing.
func (r *remains) sweep() (errs error) {
	for _, name := range r.unused {
		file := filepath.Join(r.dir, name)
		size := sizeOf(file)
		if err := remove(file); err != nil {
			errs = errors.Join(errs, err)
			continue
		}
		r.held -= size
	}
	r.unused = nil
	return errs
}

// writeExit writes the exit record, which counts from now on even if the disk is full.
func (r *remains) writeExit(x *chunks.Exit) error {
	r.p.Exit = x
	if err := x.Write(folder.Dir(r.dir), rawformat.RecordHeader{Instance: r.p.Instance, Pid: r.p.Pid}); err != nil {
		return fmt.Errorf("exit record: %w", err)
	}
	size := sizeOf(filepath.Join(r.dir, chunks.ExitName))
	r.held += size - r.exit
	r.exit = size
	return nil
}

// sizeOf is the size of a file in bytes, 0 if there is none.
func sizeOf(path string) int64 {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return info.Size()
}

// keep is how long before a crash recorded data is protected, according to meta.
func (r *remains) keep() time.Duration {
	if r.p.Value(rawformat.MetaKeep) != "" {
		return time.Duration(r.p.Number(rawformat.MetaKeep))
	}
	return defaultKeep
}

// defaultKeep is for recordings whose meta does not say.
const defaultKeep = time.Minute

// erase removes an instance directory that nobody needs any more. The directory stays if
// it holds other files.
func erase(dir string) error {
	if err := clearDir(dir); err != nil {
		return err
	}
	folder.RemoveDir(dir) // it may hold files that are not ours
	return nil
}

// clearDir removes our own files, which it knows by name, except those that are to stay.
// The lock is removed last.
func clearDir(dir string, stay ...string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var errs error
	for _, e := range entries {
		if ours(e.Name()) && e.Name() != chunks.LockName && !slices.Contains(stay, e.Name()) {
			errs = errors.Join(errs, remove(filepath.Join(dir, e.Name())))
		}
	}
	if errs != nil {
		return errs
	}
	return remove(filepath.Join(dir, chunks.LockName))
}

// ours reports whether a file in an instance directory bears one of our names.
func ours(name string) bool {
	return chunks.KindOf(strings.TrimSuffix(name, chunks.NewSuffix)) != chunks.NoFile
}

// Plausible returns t, the time when something was done, unless it lies a minute or more
// in the future. Then it was done before the clock was set back, nobody knows when, and
// it counts as older than everything else.
func Plausible(t, now int64) int64 {
	if now > 0 && t-now > int64(time.Minute) {
		return longAgo
	}
	return t
}

// longAgo leaves room for times before it.
const longAgo = 1 << 20
