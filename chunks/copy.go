package chunks

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"gprof/chunks/folder"
	"gprof/rawformat"
)

// CopySince copies what a live instance recorded since a moment, in ns of
// CLOCK_MONOTONIC, into a new directory. The result is a recording by itself, see [Copy].
// The directory gets its name when it is complete. On an error nothing is left behind.
func CopySince(from folder.Folder, to string, since uint64) error {
	if _, err := fs.Stat(from, "."); err != nil {
		return err
	}
	if _, err := os.Lstat(to); err == nil {
		return &fs.PathError{Op: "snapshot", Path: to, Err: fs.ErrExist}
	}
	half := to + NewSuffix
	if err := os.MkdirAll(filepath.Dir(half), 0o700); err != nil {
		return err
	}
	if err := os.Mkdir(half, 0o700); err != nil { // if it exists, another process is making it
		return err
	}
	err := Copy(from, since, func(name string, data []byte) error { return writeNew(folder.Dir(half), name, data) })
	if err == nil {
		err = os.Rename(half, to)
	}
	if err != nil {
		err = errors.Join(err, os.RemoveAll(half))
	}
	return err
}

// Copy hands out what a live instance recorded since a moment, in ns of CLOCK_MONOTONIC,
// file by file. Together the files are a recording by itself. Of chunks that were closed
// before, only the headers are copied; of the others, the pages from that moment on, see
// [Cutter]. Any goroutine of any process may call Copy. The recording goes on, and what
// it discards meanwhile is left out.
//
//  1. Stack rings. A sample that is drained meanwhile is counted once when the copy is
//     read, see [OpenProcess].
//  2. Chunks. One that is reused while its file is read is read again.
//  3. Dictionaries, which by now contain what the chunks refer to, meta and, of an
//     instance that has ended, exit.
//  4. All windows of the execution trace.
//
// The data is valid until write returns. An error of write ends the copy.
func Copy(from fs.FS, since uint64, write func(name string, data []byte) error) error {
	files, err := fs.ReadDir(from, ".")
	if err != nil {
		return err
	}
	c := newCopier(from, since, files, write)
	for _, kind := range Recorded() {
		for _, f := range files {
			if KindOf(f.Name()) != kind {
				continue
			}
			if err := c.file(f.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}

// copier copies the files of an instance.
type copier struct {
	from   fs.FS
	since  uint64
	write  func(name string, data []byte) error
	cutter *Cutter // nil: chunks are copied whole or not at all
	free   uint32  // number that no chunk file has
}

func newCopier(from fs.FS, since uint64, files []fs.DirEntry, write func(name string, data []byte) error) *copier {
	c := &copier{from: from, since: since, write: write}
	for _, f := range files {
		if kind, number := Named(f.Name()); kind == ChunkFile {
			c.free = max(c.free, number+1)
		}
	}
	if since > 0 {
		c.cutter, _ = NewCutter(from, ".", since, math.MaxUint64) // without one, a little more is copied
	}
	return c
}

// file copies a file, unless it is gone or holds nothing that counts.
func (c *copier) file(name string) error {
	b, err := latest(c.from, name, c.since)
	if errors.Is(err, fs.ErrNotExist) || err == nil && b == nil {
		return nil
	}
	if err == nil && c.cutter != nil && KindOf(name) == ChunkFile {
		parts := c.cutter.Cut(b)
		for b = parts[len(parts)-1]; len(parts) > 1 && err == nil; parts = parts[1:] {
			err = c.write(ChunkFile.FileName(c.free), parts[0])
			c.free++
		}
	}
	if err != nil {
		return err
	}
	return c.write(name, b)
}

// latest reads what counts of a file now, nil if nothing does.
func latest(from fs.FS, name string, since uint64) ([]byte, error) {
	kind := KindOf(name)
	in, err := openInput(from, name, kind.MaxSize())
	if err != nil {
		return nil, err
	}
	defer in.Close() // it was only read
	if kind == ChunkFile {
		return chunkContent(in, since)
	}
	b, err := in.read(make([]byte, min(in.size, kind.MaxSize())), 0)
	if err == nil && kind == DictFile {
		b, err = dictContent(name, b)
	}
	return b, err
}

// uses is how often a chunk that is reused meanwhile is read at most.
const uses = 3

// chunkContent is nil if the chunk holds nothing.
func chunkContent(in *input, since uint64) ([]byte, error) {
	if in.size < rawformat.HeadSize || in.size > rawformat.MaxChunkFile {
		return nil, nil
	}
	room := make([]byte, in.size)
	for range uses {
		b, err := in.read(room, 0)
		if err != nil {
			return nil, err
		}
		if len(b) >= rawformat.HeadSize && !usedAgain(in, b) {
			return cutContent(b, since), nil
		}
	}
	return nil, nil
}

// usedAgain reports whether a chunk's epoch has changed since it was read.
func usedAgain(in *input, b []byte) bool {
	now, err := in.read(make([]byte, 8), rawformat.OffEpoch)
	return err != nil || string(now) != string(b[rawformat.OffEpoch:][:8])
}

// cutContent reduces a chunk that was closed before since to its header.
func cutContent(b []byte, since uint64) []byte {
	h, sealed, err := rawformat.ReadHeader(b)
	if err != nil || h.Epoch == 0 {
		return nil
	}
	if !sealed || h.Close.Monotonic >= since {
		return b
	}
	clear(b[rawformat.HeaderSize:rawformat.HeadSize])
	binary.LittleEndian.PutUint32(b[rawformat.OffState:], uint32(rawformat.StateLeftOut))
	return b[:rawformat.HeadSize]
}

// dictContent cuts off a record that is still being written.
func dictContent(name string, b []byte) ([]byte, error) {
	h, err := rawformat.ReadRecordHeader(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	scan := newRecordScan(name, b, h, nil)
	end := rawformat.RecordHeaderSize
	for rec := (Record{}); scan.next(&rec); {
		end = scan.at
	}
	return b[:end], nil
}
