// Package kept is the directory of recordings that triggers kept, beside the processes of a
// session: how its files are called, and how they make room for each other.
//
// Each file is an archive of what one or several processes recorded in some seconds. It is
// whole or absent: it gets its name when it is complete.
package kept

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gprof/chunks"
	"gprof/chunks/folder"
	"gprof/chunks/session"
	"gprof/rawformat"
)

// DirName is the name of the directory in that of the session.
const DirName = rawformat.TriggerDirName

// MaxFiles is how many files a session keeps.
const MaxFiles = 16

// ErrTooBig means that a file would take more than half of the room that there is for all.
var ErrTooBig = errors.New("too big to be kept")

// File is one that was kept.
type File struct {
	Time     time.Time // when the trigger fired
	Instance uint64    // of the process whose trigger it was
	Rule     uint32    // of the trigger, see RuleOf
	Size     int64     // bytes that it takes on the disk; not part of the name
}

const (
	stamp  = "20060102T150405.000000000Z"
	suffix = ".gprof"
)

// RuleOf tells rules apart by their text.
func RuleOf(text string) uint32 { return crc32.ChecksumIEEE([]byte(text)) }

// Name is the file's name. Names are in the order of time.
func (f *File) Name() string {
	return fmt.Sprintf("%s-%s-%08x%s", f.Time.UTC().Format(stamp), folder.InstanceName(f.Instance), f.Rule, suffix)
}

// Parse is the inverse of Name. ok is false for names that are not ours.
func Parse(name string) (f File, ok bool) {
	rest, ok := strings.CutSuffix(name, suffix)
	parts := strings.Split(rest, "-")
	if !ok || len(parts) != 3 {
		return f, false
	}
	at, err := time.Parse(stamp, parts[0])
	rule, err2 := strconv.ParseUint(parts[2], 16, 32)
	instance, ok := folder.InstanceOf(parts[1])
	f = File{Time: at, Instance: instance, Rule: uint32(rule)}
	return f, ok && err == nil && err2 == nil && f.Name() == name
}

// List returns what a session keeps, the oldest first. A session that keeps nothing has no
// such directory, which is no error.
func List(session string) (files []File, err error) {
	files, _, err = list(session)
	return files, err
}

// list returns also the names of files that are being written, or were when the process died.
func list(session string) (files []File, half []string, err error) {
	entries, err := os.ReadDir(filepath.Join(session, DirName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	for _, e := range entries { // sorted by name
		info, infoErr := e.Info()
		if infoErr != nil || !info.Mode().IsRegular() {
			continue // it has just made room
		}
		if f, ok := Parse(e.Name()); ok {
			f.Size = taken(info)
			files = append(files, f)
		} else if strings.HasSuffix(e.Name(), suffix+chunks.NewSuffix) {
			half = append(half, e.Name())
		}
	}
	return files, half, err
}

// Open opens a kept file for reading. The error is [fs.ErrNotExist] also for names that are not
// those of kept files.
func Open(session, name string) (*os.File, error) {
	if _, ok := Parse(name); !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return folder.OpenFile(filepath.Join(session, DirName, name), os.O_RDONLY|folder.OpenCarefully)
}

// Keep writes a file, for which older ones make room: afterwards there are at most [MaxFiles],
// and they have at most so many bytes together. Of those of the rule that has most files the
// oldest goes first, so that a rule that fires all the time does not displace what another one
// kept. f.Size is set.
//
// The error is ErrTooBig, what write returned, or the disk's; then nothing is left behind, and
// nothing made room.
func Keep(dir string, f *File, bytes int64, write func(io.Writer) error) error {
	if err := makeDir(dir); err != nil {
		return err
	}
	path := filepath.Join(dir, DirName, f.Name())
	removeHalf(dir, f.Instance)
	out, err := folder.Create(path + chunks.NewSuffix)
	if err != nil {
		return err
	}
	w := &sparseWriter{file: out, left: bytes / 2}
	err = errors.Join(write(w), out.Truncate(w.end), out.Close())
	if f.Size = bytes/2 - w.left; err == nil {
		err = makeRoom(dir, f, bytes)
	}
	if err == nil {
		err = folder.RenameFile(path+chunks.NewSuffix, path)
	}
	if err != nil {
		return errors.Join(err, folder.RemoveFile(path+chunks.NewSuffix))
	}
	return nil
}

// makeDir makes the directory, as open to others as the session.
func makeDir(session string) error {
	dir := filepath.Join(session, DirName)
	if info, err := os.Lstat(dir); err == nil && info.IsDir() {
		return nil
	}
	info, err := os.Stat(session)
	if err != nil {
		return err
	}
	mode := fs.FileMode(0o700)
	if info.Mode()&folder.GroupWrites != 0 {
		mode = os.ModeSetgid | 0o770
	}
	if err = folder.MakeInstance(dir, mode); errors.Is(err, fs.ErrExist) {
		return nil // another process was quicker; or it is no directory, which Create finds out
	}
	return err
}

// removeHalf removes what processes left that died while they wrote. own writes nothing else
// at this moment.
func removeHalf(dir string, own uint64) {
	_, half, _ := list(dir)
	for _, name := range half {
		f, ok := Parse(strings.TrimSuffix(name, chunks.NewSuffix))
		if ok && (f.Instance == own || !session.Alive(filepath.Join(dir, folder.InstanceName(f.Instance)))) {
			folder.RemoveFile(filepath.Join(dir, DirName, name)) // another process may have done so
		}
	}
}

// makeRoom removes files until one more has room.
func makeRoom(dir string, f *File, bytes int64) error {
	files, err := List(dir)
	if err != nil {
		return err
	}
	sum := f.Size
	for i := range files {
		sum += files[i].Size
	}
	for len(files) > 0 && (len(files) >= MaxFiles || sum > bytes) {
		i := leastWorth(files)
		switch err := folder.RemoveFile(filepath.Join(dir, DirName, files[i].Name())); {
		case err == nil:
			noteDisplaced(dir)
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
		sum -= files[i].Size
		files = slices.Delete(files, i, i+1)
	}
	return nil
}

// displacedName is the file whose size is how many files made room. Nothing is written to it, so it takes none itself.
const displacedName = "displaced"

// Displaced is how many files of a session made room for later ones. Those that somebody removed don't count.
func Displaced(session string) (int64, error) {
	info, err := os.Lstat(filepath.Join(session, DirName, displacedName))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, nil
	case err != nil:
		return 0, err
	}
	return info.Size(), nil
}

// noteDisplaced counts a file that made room. It may fail, as on a full disk, and of two processes that do so at the
// same moment one may count: neither is worth an error.
func noteDisplaced(dir string) {
	path := filepath.Join(dir, DirName, displacedName)
	f, err := folder.OpenFile(path, os.O_RDWR|folder.OpenCarefully)
	if errors.Is(err, fs.ErrNotExist) {
		f, err = folder.Create(path)
	}
	if err != nil {
		return
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		f.Truncate(info.Size() + 1)
	}
}

// leastWorth is the oldest file of the rule that has most of them; of two such rules, of the
// one whose oldest file is older.
func leastWorth(files []File) (oldest int) {
	count := map[uint32]int{}
	for i := range files {
		count[files[i].Rule]++
	}
	for i := range files {
		if count[files[i].Rule] > count[files[oldest].Rule] {
			oldest = i
		}
	}
	return oldest
}
