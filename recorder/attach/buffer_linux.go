package attach

import (
	"errors"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"gprof/rawformat/perfevent"
)

// buffer is the memory into which the kernel writes records: a page with its positions, and
// a ring.
type buffer struct {
	mem  []byte
	page *unix.PerfEventMmapPage
	ring []byte // its size is a power of two
	wrap []byte // of a record that begins at the end of the ring
}

// bufferSize is the size of a ring in bytes, if the kernel allows it. By default a user has
// 516 KiB a processor.
const bufferSize = 512 << 10

// stacksSize is that of a ring for samples with copies of stacks.
const stacksSize = 4 << 20

// minBuffer is the smallest ring that is tried.
const minBuffer = 16 << 10

// mapBuffer maps the buffer of an event, as large as possible, with a ring of at most that size. The error is that of the
// smallest one: unix.EPERM when no more memory may be locked.
func mapBuffer(fd, most int) (*buffer, error) {
	page := os.Getpagesize()
	for size := most; ; size /= 2 {
		mem, err := unix.Mmap(fd, 0, page+size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err == nil {
			return &buffer{mem: mem, page: (*unix.PerfEventMmapPage)(unsafe.Pointer(&mem[0])), ring: mem[page:]}, nil
		}
		if !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.ENOMEM) || size/2 < max(minBuffer, page) {
			return nil, os.NewSyscallError("mmap", err)
		}
	}
}

// read calls f for the records in the buffer; f must not keep the body. An impossible record
// ends the reading, and what is left counts as one lost record.
func (b *buffer) read(f func(h perfevent.Head, body []byte)) (lost uint64) {
	head, tail := atomic.LoadUint64(&b.page.Data_head), b.page.Data_tail
	for tail < head {
		h, ok := perfevent.ParseHead(b.at(tail, perfevent.HeadSize))
		if !ok || uint64(h.Size) > head-tail {
			lost, tail = 1, head
			break
		}
		f(h, b.at(tail, h.Size)[perfevent.HeadSize:])
		tail += uint64(h.Size)
	}
	atomic.StoreUint64(&b.page.Data_tail, tail)
	return lost
}

// at returns n bytes at a position. Positions only grow.
func (b *buffer) at(position uint64, n int) []byte {
	i := int(position & uint64(len(b.ring)-1))
	if i+n <= len(b.ring) {
		return b.ring[i : i+n]
	}
	b.wrap = append(append(b.wrap[:0], b.ring[i:]...), b.ring[:n-(len(b.ring)-i)]...)
	return b.wrap
}

func (b *buffer) close() error { return unix.Munmap(b.mem) }
