package chunks

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"

	"gprof/rawformat"
)

// storage is where a ring's chunk files lie; tests have one that gets full.
type storage interface {
	create(name string, size int) (*Chunk, error) // allocated and faulted in
	unmap(c *Chunk) error
	shorten(name string) error // to the head, which still says what was there
	remove(name string) error
	state(start uint64, discarded uint32) error // a range start, and how many chunks were discarded
}

// folder is a directory of chunk files.
type folder string

// create makes a chunk file and maps it. Its descriptor is closed again: the
// host's may be few. Nothing is left behind on an error.
func (d folder) create(name string, size int) (*Chunk, error) {
	path := filepath.Join(string(d), name)
	f, err := create(path)
	if err != nil {
		return nil, err
	}
	mem, guard, err := allocate(f, size)
	err = errors.Join(err, f.Close())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("chunk file of %d bytes: %w", size, err), removeFile(path))
	}
	c := fileChunk(mem)
	c.guard = guard
	return c, nil
}

// allocate reserves size bytes for f and maps them. A mapped byte without a
// place on the disk would be lost when the disk is full, see [CatchFaults].
func allocate(f *os.File, size int) ([]byte, *faultRange, error) {
	err := reserve(f, int64(size))
	if cannotReserve(err) {
		err = writeZeros(f, size)
	}
	if err != nil {
		return nil, nil, err
	}
	mem, guard, err := mapProtected(f, size)
	if err != nil {
		return nil, nil, err
	}
	if !populate(mem) {
		touch(mem)
	}
	return mem, guard, nil
}

// cannotReserve reports whether the file system does not know how to reserve.
func cannotReserve(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL)
}

func writeZeros(f *os.File, size int) error {
	zeros := make([]byte, 64<<10)
	for at := 0; at < size; at += len(zeros) {
		if _, err := f.WriteAt(zeros[:min(len(zeros), size-at)], int64(at)); err != nil {
			return err
		}
	}
	return nil
}

// touch faults every page in for writing, and changes nothing.
func touch(mem []byte) {
	for at := 0; at < len(mem); at += os.Getpagesize() {
		atomic.AddUint64(word(mem, at), 0)
	}
}

// unmap makes c's memory invalid.
func (folder) unmap(c *Chunk) error {
	mem, guard := c.mapping, c.guard
	c.guard, c.mapping, c.head, c.table, c.payload, c.trailer = nil, nil, nil, nil, nil, nil
	return unmapProtected(mem, guard)
}

func (d folder) remove(name string) error { return removeFile(filepath.Join(string(d), name)) }

func (d folder) shorten(name string) error {
	f, err := openFile(filepath.Join(string(d), name), os.O_RDWR|openCarefully)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(rawformat.HeadSize), f.Close())
}

// state notes in meta, which whoever made the directory has written.
func (d folder) state(start uint64, discarded uint32) error {
	path := filepath.Join(string(d), metaName)
	f, pr := probeRecords(os.DirFS(string(d)), metaName, rawformat.MagicMeta)
	if f == nil {
		return errors.Join(fs.ErrNotExist, pr.err)
	}
	var bodies [][]byte
	for _, r := range f.records(func(Problem) {}) {
		if key := r.Fields(); !slices.Contains(rangeKeys, string(key.Text("key"))) {
			bodies = append(bodies, append([]byte{byte(r.Kind)}, r.Body...))
		}
	}
	for i, v := range []uint64{start, uint64(discarded)} {
		body := rawformat.AppendText([]byte{byte(rawformat.KindMeta)}, rangeKeys[i])
		bodies = append(bodies, rawformat.AppendText(body, strconv.FormatUint(v, 10)))
	}
	return WriteRecords(path, f.header, bodies...)
}

const metaName = "meta"

// rangeKeys are those of meta that a ring writes.
var rangeKeys = []string{rawformat.MetaRangeStart, rawformat.MetaDiscarded}
