package keeper

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"gprof/chunks"
	"gprof/chunks/folder"
	"gprof/chunks/kept"
	"gprof/chunks/sections"
	"gprof/chunks/session"
)

// keptShare is the part of the session's limit that kept snapshots may take besides.
const keptShare = 4

// keptFile is the file of the snapshot that a job asks for.
func (k *Keeper) keptFile(j *job) *kept.File {
	return &kept.File{Time: j.at, Instance: k.rec.Instance(), Rule: kept.RuleOf(j.of.Text)}
}

// keepSnapshot keeps what was recorded before the trigger fired, and until now. If that is too
// much, it keeps half the time, and so on. It returns the size of the file.
func (k *Keeper) keepSnapshot(j *job) (size int64, err error) {
	k.Drain() // at the end of the recording nothing is left to drain
	room := k.config.Limit / keptShare
	if k.member.control != nil {
		room = k.member.control.Limit() / keptShare
	}
	f := k.keptFile(j)
	for behind := j.of.Behind; behind >= time.Millisecond; behind /= 2 {
		since := j.reach - min(j.reach, uint64(behind))
		err = kept.Keep(k.config.Session, f, room, func(w io.Writer) error { return k.archive(w, j, max(1, since)) })
		if !errors.Is(err, kept.ErrTooBig) {
			break
		}
	}
	return f.Size, err
}

// archive writes what processes of the session recorded since a moment: this one, and all that
// live if the job is for all. They need not do anything for it, so those that were stopped are
// in it, too, and those that hang block nobody.
func (k *Keeper) archive(to io.Writer, j *job, since uint64) error {
	buffer := bufio.NewWriter(to)
	w := sections.NewWriter(buffer)
	if err := copyProcess(w, k.files, k.rec.Instance(), since); err != nil {
		return err
	}
	if j.all {
		if err := k.archiveOthers(w, since); err != nil {
			return err
		}
	}
	return errors.Join(w.Close(), buffer.Flush())
}

func (k *Keeper) archiveOthers(w *sections.Writer, since uint64) error {
	entries, err := os.ReadDir(k.config.Session)
	if err != nil {
		return err
	}
	for _, e := range entries {
		instance, ok := folder.InstanceOf(e.Name())
		dir := filepath.Join(k.config.Session, e.Name())
		if !ok || instance == k.rec.Instance() || !session.Alive(dir) {
			continue
		}
		if err := copyProcess(w, folder.Dir(dir), instance, since); err != nil {
			return err
		}
	}
	return nil
}

// copyProcess copies what a process recorded since a moment. One that has made way for others
// meanwhile is no error.
func copyProcess(w *sections.Writer, files fs.FS, instance, since uint64) error {
	if err := w.Process(instance, true); err != nil {
		return err
	}
	err := chunks.Copy(files, since, func(name string, data []byte) error { return w.File(instance, name, data) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
