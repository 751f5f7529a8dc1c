package session

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"gprof/chunks"
	"gprof/chunks/folder"
	"gprof/rawformat"
)

// A tomb is what is left of an instance whose last chunk was removed to make room: the
// directory with meta, reduced to what identifies the process, and exit, which says how
// much was discarded. It has no lock and no slot, and counts against no limit: tombs are
// few and small.
const (
	maxTombs    = 32
	maxTombMeta = 2 << 10 // bytes of keys and values
	maxTombText = 256     // of one value
)

// entomb reduces an instance whose chunks are gone to a tomb, which says why if there is
// more to say than that the limit was reached. If the disk has no room for it, the whole
// instance is removed.
func (r *remains) entomb(why string) error {
	if r.p.Exit.Discarded == 0 {
		return erase(r.dir)
	}
	bodies, size := [][]byte(nil), 0
	meta := r.p.Meta
	if why != "" {
		meta = slices.Insert(slices.Clone(meta), 0, chunks.Meta{Key: rawformat.MetaMadeWay, Value: why})
	}
	for _, m := range meta {
		if n := len(m.Key) + len(m.Value); len(m.Value) <= maxTombText && size+n <= maxTombMeta {
			bodies = append(bodies, rawformat.AppendText(rawformat.AppendText([]byte{byte(rawformat.KindMeta)}, m.Key), m.Value))
			size += n
		}
	}
	h := rawformat.RecordHeader{Magic: rawformat.MagicMeta, Instance: r.p.Instance, Pid: r.p.Pid}
	if err := chunks.WriteRecords(folder.Dir(r.dir), chunks.MetaName, h, bodies...); err != nil {
		return errors.Join(err, erase(r.dir))
	}
	return errors.Join(clearDir(r.dir, chunks.MetaName, chunks.ExitName), buryOldest(filepath.Dir(r.dir)))
}

// buryOldest removes the oldest tombs of a session if there are too many.
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
			if info, err := os.Lstat(filepath.Join(dir, chunks.ExitName)); err == nil {
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
	if _, err := os.Lstat(filepath.Join(dir, chunks.LockName)); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	entries, err := os.ReadDir(dir)
	return err == nil && len(entries) > 0 && !slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		kind := chunks.KindOf(e.Name())
		return kind != chunks.MetaFile && kind != chunks.ExitFile
	})
}
