package chunks

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"gprof/chunks/folder"
	"gprof/rawformat"
)

// disk is a file on a disk with limited room.
type disk struct {
	data   []byte
	room   int
	writes int
	stuck  bool // cannot be cut
}

func (d *disk) WriteAt(b []byte, at int64) (int, error) {
	d.writes++
	n := min(len(b), d.room-int(at))
	d.data = append(d.data[:at], b[:n]...)
	if n < len(b) {
		return n, syscall.ENOSPC
	}
	return n, nil
}

func (d *disk) Write(b []byte) (int, error) { return d.WriteAt(b, int64(len(d.data))) }

func (d *disk) Stat() (fs.FileInfo, error) { return nil, errors.ErrUnsupported }

func (d *disk) Truncate(size int64) error {
	if d.stuck {
		return syscall.EIO
	}
	d.data = d.data[:size]
	return nil
}

func (d *disk) Close() error { return nil }

func testDict(t *testing.T, d *disk) *RecordFile {
	t.Helper()
	f, err := newRecordFile(d, rawformat.RecordHeader{Magic: rawformat.MagicDict, Instance: testInstance, Generation: 2, Pid: testPid})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// The reader finds what was written; each Append is one write.
func TestRecordFile(t *testing.T) {
	d := &disk{room: 1000}
	f := testDict(t, d)
	for _, err := range []error{f.Append(stringBody(1, "one")), f.Append(stringBody(2, "two"), stringBody(3, "three")), f.Append(), f.Close()} {
		if err != nil {
			t.Error(err)
		}
	}
	if want := testRecords(rawformat.MagicDict, 2, stringBody(1, "one"), stringBody(2, "two"), stringBody(3, "three")); !bytes.Equal(d.data, want) {
		t.Errorf("file %x\nwant %x", d.data, want)
	}
	if d.writes != 3 || f.Size() != int64(len(d.data)) {
		t.Errorf("%d writes, size %d of %d", d.writes, f.Size(), len(d.data))
	}
}

// When the disk is full, nothing of the records stays, and later records find a whole
// file.
func TestRecordFileFull(t *testing.T) {
	d := &disk{room: 60}
	f := testDict(t, d)
	if err := f.Append(stringBody(1, "one")); err != nil {
		t.Fatal(err)
	}
	size := f.Size()
	if err := f.Append(stringBody(2, "two"), stringBody(3, "a longer one")); !errors.Is(err, syscall.ENOSPC) || f.Size() != size || int64(len(d.data)) != size {
		t.Errorf("%v; size %d, file of %d, want %d", err, f.Size(), len(d.data), size)
	}
	d.room = 1000
	if err := f.Append(stringBody(2, "two")); err != nil {
		t.Error(err)
	}
	if want := testRecords(rawformat.MagicDict, 2, stringBody(1, "one"), stringBody(2, "two")); !bytes.Equal(d.data, want) {
		t.Errorf("file %x\nwant %x", d.data, want)
	}
}

// No records are appended after a tail that cannot be cut off.
func TestRecordFileStuck(t *testing.T) {
	d := &disk{room: 50, stuck: true}
	f := testDict(t, d)
	first := f.Append(stringBody(1, "a text that is too long"))
	if !errors.Is(first, syscall.ENOSPC) || !errors.Is(first, syscall.EIO) {
		t.Errorf("error %v", first)
	}
	d.room = 1000
	if err := f.Append(stringBody(1, "x")); !errors.Is(err, syscall.EIO) || len(d.data) != 50 {
		t.Errorf("error %v, file of %d", err, len(d.data))
	}
}

func TestRecordLimits(t *testing.T) {
	d := &disk{room: 1 << 30}
	f := testDict(t, d)
	for _, n := range []int{0, rawformat.MaxBlock + 1} {
		if err := f.Append([]byte{1}, make([]byte, n)); !errors.Is(err, rawformat.ErrTooBig) || f.Size() != rawformat.RecordHeaderSize {
			t.Errorf("body of %d bytes: %v, size %d", n, err, f.Size())
		}
	}
	if err := f.Append(make([]byte, rawformat.MaxBlock)); err != nil {
		t.Error(err)
	}
	f.size = rawformat.MaxRecordFile - 6
	if err := f.Append([]byte{1, 2}); !errors.Is(err, rawformat.ErrTooBig) {
		t.Errorf("file over the limit: %v", err)
	}
}

// A directory of a dictionary, meta and exit file, written and read.
func TestWriteRecords(t *testing.T) {
	dir := t.TempDir()
	dict, err := CreateDict(folder.Dir(dir), testInstance, 1, testPid)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(dict.Append(stringBody(1, "one")), dict.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := CreateDict(folder.Dir(dir), testInstance, 1, testPid); !errors.Is(err, os.ErrExist) {
		t.Errorf("a second dictionary of a generation: %v", err)
	}
	h := rawformat.RecordHeader{Magic: rawformat.MagicMeta, Instance: testInstance, Pid: testPid}
	for range 2 { // the second replaces the first
		if err := WriteRecords(folder.Dir(dir), "meta", h, metaBody("service", "shop"), metaBody("arg", "x")); err != nil {
			t.Fatal(err)
		}
	}
	p, err := OpenProcess(os.DirFS(dir), ".")
	if err != nil || len(p.Problems) > 0 {
		t.Fatalf("%v, %v", err, p.Problems)
	}
	if p.Instance != testInstance || p.Pid != testPid || len(p.Meta) != 2 || p.Meta[0] != (Meta{"service", "shop"}) {
		t.Errorf("%+v", p)
	}
	if len(p.Dicts) != 1 || p.Dicts[0].Generation != 1 || len(p.Dicts[0].All(nil)) != 1 || p.Dicts[0].All(nil)[0].Kind != rawformat.KindDefString {
		t.Errorf("dictionaries %+v", p.Dicts)
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, _ := e.Info(); len(entries) != 2 || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v", e.Name(), info.Mode())
		}
	}
}

func TestWriteRecordsFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "meta")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	h := rawformat.RecordHeader{Magic: rawformat.MagicMeta}
	if err := WriteRecords(folder.Dir(dir), filepath.Base(path), h, metaBody("a", "b")); err == nil || countFiles(t, dir) != 1 {
		t.Errorf("error %v, %d files", err, countFiles(t, dir))
	}
	if err := WriteRecords(folder.Dir(dir), "exit", h, nil); !errors.Is(err, rawformat.ErrTooBig) || countFiles(t, dir) != 1 {
		t.Errorf("error %v, %d files", err, countFiles(t, dir))
	}
}
