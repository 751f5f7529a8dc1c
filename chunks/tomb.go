package chunks

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"gprof/chunks/folder"
	"gprof/rawformat"
)

// A tomb is what is left of an instance whose last chunk made way for others: the
// directory with meta, cut to what names the process, and exit, which says how much
// was discarded. It has no lock and no slot, and stands in nobody's account: there are
// few, and they are small.
const (
	maxTombs    = 32
	maxTombMeta = 2 << 10 // bytes of keys and values
	maxTombText = 256     // of one value
)

// Removed reports whether all that was recorded made way for others.
func (p *Process) Removed() bool {
	return p.Exit != nil && p.Exit.Discarded > 0 && p.Exit.RangeStart >= p.Exit.RangeEnd && len(p.known()) == 0 && len(p.Rest) == 0
}

// Discarded is how much of a process made way for what came later, as far as its own
// files tell: chunks, and their bytes.
func (p *Process) Discarded() (chunks, bytes int64) {
	told, capacity := p.discarded()
	for _, im := range p.known() {
		if im.End() <= p.Held && told > 0 { // a copy was made before it went
			told--
		}
	}
	if capacity == 0 && p.Exit != nil {
		return int64(told), int64(min(p.Exit.RangeEnd, 1<<62))
	}
	return int64(told), int64(told * capacity)
}

// discarded is how many chunks headers, meta and exit say to have been discarded, and
// how many bytes one has, 0 if no chunk tells.
func (p *Process) discarded() (chunks, capacity uint64) {
	chunks = min(p.number(rawformat.MetaDiscarded), 1<<32)
	for _, im := range p.known() {
		chunks = max(chunks, uint64(im.Header.Discarded))
		capacity = max(capacity, uint64(im.Header.Capacity))
	}
	if p.Exit != nil {
		chunks = max(chunks, min(p.Exit.Discarded, 1<<32))
	}
	return chunks, capacity
}

// entomb removes an instance whose chunks are gone, but for its tomb. Where the disk
// has no room for that, all goes.
func (r *remains) entomb() error {
	if r.p.Exit.Discarded == 0 {
		return erase(r.dir)
	}
	bodies, size := [][]byte(nil), 0
	for _, m := range r.p.Meta {
		if n := len(m.Key) + len(m.Value); len(m.Value) <= maxTombText && size+n <= maxTombMeta {
			bodies = append(bodies, rawformat.AppendText(rawformat.AppendText([]byte{byte(rawformat.KindMeta)}, m.Key), m.Value))
			size += n
		}
	}
	h := rawformat.RecordHeader{Magic: rawformat.MagicMeta, Instance: r.p.Instance, Pid: r.p.Pid}
	if err := WriteRecords(folder.Dir(r.dir), metaName, h, bodies...); err != nil {
		return errors.Join(err, erase(r.dir))
	}
	return errors.Join(clearDir(r.dir, metaName, exitName), buryOldest(filepath.Dir(r.dir)))
}

// buryOldest removes the oldest tombs of a session that are too many.
func buryOldest(session string) (errs error) {
	type tomb struct {
		dir  string
		made time.Time
	}
	var all []tomb
	entries, err := os.ReadDir(session)
	for _, e := range entries {
		dir := filepath.Join(session, e.Name())
		if _, ok := folder.InstanceOf(e.Name()); ok && isTomb(dir) {
			if info, err := os.Lstat(filepath.Join(dir, exitName)); err == nil {
				all = append(all, tomb{dir, info.ModTime()})
			}
		}
	}
	slices.SortFunc(all, func(a, b tomb) int { return cmp.Or(a.made.Compare(b.made), cmp.Compare(a.dir, b.dir)) })
	for _, t := range all[:max(0, len(all)-maxTombs)] {
		errs = errors.Join(errs, erase(t.dir))
	}
	return errors.Join(err, errs)
}

// isTomb reports whether an instance directory holds nothing but meta and exit.
func isTomb(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, lockName)); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	entries, err := os.ReadDir(dir)
	return err == nil && len(entries) > 0 && !slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		kind := kindOf(e.Name())
		return kind != MetaFile && kind != ExitFile
	})
}
