package archive

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"
)

const (
	localSize      = 30 // of the header in front of a member
	descriptorSize = 12 // of what follows a member whose sizes were unknown before
	streamed       = 1 << 3
	noSize         = 1<<32 - 1 // the size is in the extra field
)

// salvager reads a zip without its directory, which is at the end, by the headers of members. It
// misses what only the directory tells, such as that a member is a link.
type salvager struct {
	*zipScan
	in *bufio.Reader
}

// localHeader is the header before a member.
type localHeader struct {
	flags, method uint16
	packed        int64 // bytes; 0 if streamed
	name          string
}

// salvage adds what is intact from the beginning. whole is what is wrong with the zip.
func (z *zipScan) salvage(whole error) error {
	z.in.left = 1 << 62
	raw := &errReader{r: io.NewSectionReader(z.in, 0, z.size)}
	t := &salvager{z, bufio.NewReader(raw)}
	for range MaxMembers {
		h, ok := t.header()
		if !ok {
			break
		}
		if err := t.member(h); err != nil {
			return raw.blame(err)
		}
	}
	if raw.err != nil {
		return raw.err
	}
	if len(z.fs.nodes) > 1 {
		return ErrTorn
	}
	return whole
}

// header reads the next one; false: none.
func (t *salvager) header() (h localHeader, ok bool) {
	var b [localSize]byte
	if _, err := io.ReadFull(t.in, b[:]); err != nil || !bytes.HasPrefix(b[:], []byte("PK\x03\x04")) {
		return h, false
	}
	le := binary.LittleEndian
	h.flags, h.method, h.packed = le.Uint16(b[6:]), le.Uint16(b[8:]), int64(le.Uint32(b[18:]))
	rest := make([]byte, int(le.Uint16(b[26:]))+int(le.Uint16(b[28:])))
	if _, err := io.ReadFull(t.in, rest); err != nil {
		return h, false
	}
	h.name = string(rest[:le.Uint16(b[26:])])
	if h.packed == noSize {
		h.packed = largeSize(rest[len(h.name):])
	}
	return h, h.packed >= 0
}

// largeSize is the packed size in an extra field, -1 if missing.
func largeSize(extra []byte) int64 {
	for len(extra) >= 4 {
		id, n := binary.LittleEndian.Uint16(extra), int(binary.LittleEndian.Uint16(extra[2:]))
		if extra = extra[4:]; n > len(extra) {
			break
		}
		if id == 1 && n >= 16 {
			return int64(binary.LittleEndian.Uint64(extra[8:]))
		}
		extra = extra[n:]
	}
	return -1
}

// member adds a wanted member, and goes to its end. An error means that the next one can't be
// found.
func (t *salvager) member(h localHeader) error {
	packed := io.Reader(t.in)
	if h.flags&streamed == 0 {
		packed = io.LimitReader(t.in, h.packed)
	}
	r, err := h.unpacked(packed)
	if err != nil {
		t.fs.refuse(h.name, err)
		if h.flags&streamed != 0 {
			return ErrTorn // where it ends is not known
		}
		_, err = io.Copy(io.Discard, packed)
		return err
	}
	if err = t.keep(h.name, &boundedReader{r, &t.allowance}); errors.Is(err, ErrBomb) {
		return ErrBomb
	}
	if err != nil {
		return err
	}
	if h.flags&streamed != 0 {
		t.passDescriptor()
		return nil
	}
	_, err = io.Copy(io.Discard, packed)
	return err
}

// unpacked reads a member's contents.
func (h *localHeader) unpacked(r io.Reader) (io.Reader, error) {
	switch {
	case h.flags&1 != 0:
		return nil, ErrMethod
	case h.method == zip.Deflate:
		return flate.NewReader(r), nil // reads no byte too many of a bufio.Reader
	case h.flags&streamed != 0:
		return nil, ErrMethod
	case h.method == zip.Store:
		return r, nil
	case h.method == zstd.ZipMethodWinZip:
		return zstd.ZipDecompressor(zstd.WithDecoderLowmem(true), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(MaxWindow))(r), nil
	}
	return nil, ErrMethod
}

// keep adds a member under its name, or skips it.
func (t *salvager) keep(name string, r io.Reader) error {
	path, err := cleanName(strings.ReplaceAll(name, `\`, "/"))
	if err != nil {
		t.fs.refuse(name, err)
	}
	n, _ := io.ReadFull(r, t.head[:]) // an error comes again
	limit := int64(0)
	if err == nil && path != "." && !strings.HasSuffix(name, "/") {
		limit = t.o.Want(path, t.head[:n])
	}
	if limit > 0 {
		off, size, err := t.o.Spool.put(io.MultiReader(bytes.NewReader(t.head[:n]), r), limit)
		if size > 0 || err == nil {
			t.fs.add(&node{path: path, size: size, from: t.o.Spool, off: off})
		}
		if err != nil {
			return err
		}
	}
	more, err := io.Copy(io.Discard, r)
	if limit > 0 && more > 0 {
		t.fs.refuse(name, fmt.Errorf("%w: only its beginning was read", ErrTooBig))
	}
	return err
}

// passDescriptor skips the sizes after a member: 12 or 20 bytes, with or without a mark of 4.
func (t *salvager) passDescriptor() {
	if mark, _ := t.in.Peek(4); bytes.Equal(mark, []byte("PK\x07\x08")) {
		t.in.Discard(4)
	}
	size := descriptorSize
	if b, _ := t.in.Peek(descriptorSize + 2); len(b) < descriptorSize+2 || string(b[descriptorSize:]) != "PK" {
		size += 8
	}
	t.in.Discard(size)
}
