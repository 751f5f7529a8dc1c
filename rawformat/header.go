package rawformat

import (
	"encoding/binary"
	"hash/crc32"
)

// Version is the format version that this package writes.
const Version = 0

// Flags of a chunk header. The high byte is the [ClockKind].
const (
	FlagStraddle uint16 = 1 << 0 // see Straddling
	FlagAnchors  uint16 = 1 << 1 // the chunk may hold anchor blocks; the process' other chunks don't
)

// Magic numbers, as they are in the file.
const (
	MagicChunk = "gprC"
	MagicDict  = "gprD"
	MagicMeta  = "gprM"
	MagicExit  = "gprX"

	MagicControl = "gprS"
)

// Offsets of the header fields that are stored while others read them.
const (
	OffEpoch    = 16
	OffCommit   = 24
	OffState    = 88
	OffCloseCRC = 92
	OffClose    = 96  // the anchor
	OffHeld     = 120 // behind that
)

// Offsets of the checksums of fixed fields: in a chunk's header, in that of a dictionary,
// meta or exit file, and in a control page.
const (
	OffFixedCRC   = 60
	OffRecordCRC  = 24
	OffControlCRC = 24
)

// Anchor ties the clocks together at one moment. Zero is unknown.
type Anchor struct {
	TSC       uint64 // ticks
	Monotonic uint64 // ns of CLOCK_MONOTONIC
	Realtime  int64  // ns since the Unix epoch
}

// Header is the first 128 bytes of a chunk:
//
//	 0  magic "gprC"      4    54  generation        2
//	 4  version           2    56  discarded         4
//	 6  flags             2    60  CRC-32C of fixed  4
//	 8  instance          8    64  open anchor      24
//	16  epoch             8    88  state             4
//	24  commit            8    92  CRC-32C of close  4
//	32  range start       8    96  close anchor     24
//	40  capacity          4   120  held              8
//	44  first block       4
//	48  pid               4
//	52  writer            2
//
// All fields are fixed except commit, state, close anchor and its CRC. The CRC of the fixed
// fields is that of the header with the others, and itself, zero. The CRC of close covers
// commit and close anchor, seeded with instance and epoch; it is 0 while the
// chunk is open.
type Header struct {
	Version    uint16
	Flags      uint16
	Instance   uint64 // random, names the process
	Epoch      uint64 // 0: not in use
	Commit     Commit
	RangeStart uint64 // index of payload byte 0
	Capacity   uint32 // bytes of payload
	FirstBlock uint32 // length of the tail of the previous chunk's last block
	Pid        uint32
	Writer     uint16
	Generation uint16 // of the dictionary, from 1
	Discarded  uint32 // chunks that the process had discarded when this one was opened
	Open       Anchor
	State      State
	Close      Anchor
	Held       uint64 // the process' range start when the chunk was opened
}

// Clock is the clock of the chunk's times.
func (h *Header) Clock() ClockKind { return ClockKind(h.Flags >> 8) }

// Straddles reports whether blocks may end in the writer's next chunk.
func (h *Header) Straddles() bool { return h.Flags&FlagStraddle != 0 }

// Commit is the commit word of a chunk.
type Commit uint64

// MakeCommit returns the word for offset bytes in blocks blocks.
func MakeCommit(offset, blocks uint32) Commit { return Commit(offset) | Commit(blocks)<<32 }

// Offset is the offset of the first payload byte that is not committed.
func (c Commit) Offset() uint32 { return uint32(c) }

// Blocks is the number of blocks that begin below Offset.
func (c Commit) Blocks() uint32 { return uint32(c >> 32) }

var le = binary.LittleEndian

// PutHeader writes h with both CRCs to dst, at least [HeaderSize] bytes. A zero
// h.Close means that the chunk is open.
func PutHeader(dst []byte, h *Header) {
	dst = dst[:HeaderSize]
	clear(dst)
	putFixed(dst, h)
	le.PutUint32(dst[OffFixedCRC:], crc32.Update(0, castagnoli, dst))
	le.PutUint64(dst[OffCommit:], uint64(h.Commit))
	le.PutUint32(dst[OffState:], uint32(h.State))
	putAnchor(dst[OffClose:], h.Close)
	if h.Close != (Anchor{}) {
		le.PutUint32(dst[OffCloseCRC:], closeCRC(h))
	}
}

// SealHeader stores the close anchor of h and its CRC in the header that is already in dst,
// for a chunk that is closed with h.Commit.
func SealHeader(dst []byte, h *Header) {
	putAnchor(dst[OffClose:], h.Close)
	le.PutUint32(dst[OffCloseCRC:], closeCRC(h))
}

func putFixed(dst []byte, h *Header) {
	copy(dst, MagicChunk)
	le.PutUint16(dst[4:], h.Version)
	le.PutUint16(dst[6:], h.Flags)
	le.PutUint64(dst[8:], h.Instance)
	le.PutUint64(dst[OffEpoch:], h.Epoch)
	le.PutUint64(dst[32:], h.RangeStart)
	le.PutUint32(dst[40:], h.Capacity)
	le.PutUint32(dst[44:], h.FirstBlock)
	le.PutUint32(dst[48:], h.Pid)
	le.PutUint16(dst[52:], h.Writer)
	le.PutUint16(dst[54:], h.Generation)
	le.PutUint32(dst[56:], h.Discarded)
	putAnchor(dst[64:], h.Open)
	le.PutUint64(dst[OffHeld:], h.Held)
}

func putAnchor(dst []byte, a Anchor) {
	le.PutUint64(dst, a.TSC)
	le.PutUint64(dst[8:], a.Monotonic)
	le.PutUint64(dst[16:], uint64(a.Realtime))
}

func anchor(src []byte) Anchor {
	return Anchor{le.Uint64(src), le.Uint64(src[8:]), int64(le.Uint64(src[16:]))}
}

func closeCRC(h *Header) uint32 {
	var b [32]byte
	le.PutUint64(b[:], uint64(h.Commit))
	putAnchor(b[8:], h.Close)
	return PageCRC(h.Instance, h.Epoch, b[:])
}

// ReadHeader reads a chunk header from the first [HeaderSize] bytes of a file.
// The error is an [*Error] of class [ErrTruncated], [ErrMagic], [ErrVersion] or
// [ErrHeader]; a header with epoch 0 is returned without any check but magic
// and version, because its fields mean nothing. sealed reports whether the
// chunk was closed: close anchor and commit fit their CRC.
func ReadHeader(b []byte) (h Header, sealed bool, err error) {
	if len(b) < HeaderSize {
		return h, false, &Error{int64(len(b)), "chunk header", ErrTruncated}
	}
	if string(b[:4]) != MagicChunk {
		return h, false, &Error{0, "chunk header", ErrMagic}
	}
	h = Header{
		Version: le.Uint16(b[4:]), Flags: le.Uint16(b[6:]), Instance: le.Uint64(b[8:]),
		Epoch: le.Uint64(b[OffEpoch:]), Commit: Commit(le.Uint64(b[OffCommit:])),
		RangeStart: le.Uint64(b[32:]), Capacity: le.Uint32(b[40:]), FirstBlock: le.Uint32(b[44:]),
		Pid: le.Uint32(b[48:]), Writer: le.Uint16(b[52:]), Generation: le.Uint16(b[54:]), Discarded: le.Uint32(b[56:]),
		Open: anchor(b[64:]), State: State(le.Uint32(b[OffState:])), Close: anchor(b[OffClose:]), Held: le.Uint64(b[OffHeld:]),
	}
	if h.Version > Version {
		return h, false, &Error{4, "chunk header", ErrVersion}
	}
	if h.Epoch == 0 {
		return h, false, nil
	}
	crc := le.Uint32(b[OffCloseCRC:])
	return h, crc != 0 && crc == closeCRC(&h), h.check(le.Uint32(b[OffFixedCRC:]))
}

// check verifies the CRC of the fixed fields and what they must satisfy.
func (h *Header) check(crc uint32) error {
	var b [HeaderSize]byte
	putFixed(b[:], h)
	switch {
	case crc32.Update(0, castagnoli, b[:]) != crc:
		return &Error{OffFixedCRC, "chunk header", ErrHeader}
	case h.RangeStart == 0:
		return &Error{32, "range start", ErrHeader}
	case h.Capacity == 0 || h.Capacity > MaxCapacity:
		return &Error{40, "capacity", ErrTooBig}
	case h.RangeStart > 1<<63:
		return &Error{32, "range start", ErrTooBig}
	case h.FirstBlock > h.Capacity:
		return &Error{44, "first block", ErrHeader}
	}
	return nil
}

// PutTrailer writes the trailer, [TrailerSize] bytes.
func PutTrailer(dst []byte, instance, epoch uint64) {
	le.PutUint64(dst, instance)
	le.PutUint64(dst[8:], epoch)
}

// ReadTrailer reads what PutTrailer wrote.
func ReadTrailer(src []byte) (instance, epoch uint64) {
	return le.Uint64(src), le.Uint64(src[8:])
}

// PageEntry is the seal of one payload page. The zero word means not sealed.
//
//	63        49 48  47            32 31         0
//	+-----------+----+---------------+-----------+
//	| 0         | 1  | first block   | CRC-32C   |
//	+-----------+----+---------------+-----------+
//
// First block is the offset within the page of the first block that begins in
// it, [PageSize] if none does.
type PageEntry uint64

// MakePageEntry returns the entry of a sealed page.
func MakePageEntry(crc, first uint32) PageEntry {
	return PageEntry(crc) | PageEntry(first)<<32 | 1<<48
}

// Sealed reports whether the page is sealed.
func (e PageEntry) Sealed() bool { return e&(1<<48) != 0 }

// CRC is the checksum of the page.
func (e PageEntry) CRC() uint32 { return uint32(e) }

// First is the offset of the first block that begins in the page.
func (e PageEntry) First() uint32 { return uint32(e>>32) & 0xffff }

// Pages is the number of payload pages of a chunk with that capacity.
func Pages(capacity uint32) int { return int((uint64(capacity) + PageSize - 1) / PageSize) }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// PageCRC is the CRC-32C of b seeded with two values: instance and epoch for
// pages, instance and generation for records.
func PageCRC(instance, epoch uint64, b []byte) uint32 { return MakeSeed(instance, epoch).CRC(b) }

// Seed is the CRC-32C of two values, with which the CRCs of pages or records begin.
type Seed uint32

// MakeSeed returns the seed of two values.
func MakeSeed(instance, epoch uint64) Seed {
	return Seed(seedCRC(seedCRC(^uint32(0), instance), epoch) ^ ^uint32(0))
}

// CRC is the CRC-32C of b, seeded with s.
func (s Seed) CRC(b []byte) uint32 { return crc32.Update(uint32(s), castagnoli, b) }

// residue is the CRC-32C of any bytes that end in their own CRC, whatever the seed.
const residue = 0x48674bc7

// Chain prepares the first bytes of a record so that it can be summed together with its
// neighbours, each followed by its CRC: at its beginning the sum continues as if from the
// seed. It changes b, which must be a copy.
func (s Seed) Chain(b []byte) { le.PutUint32(b, le.Uint32(b)^uint32(s)^residue) }

// ChainFits reports whether chained records all match their CRCs. One sum of many records
// takes a fraction of the time of a sum for each.
func ChainFits(records []byte) bool { return crc32.Update(residue, castagnoli, records) == residue }

// seedCRC continues a CRC, in its inverted form, over 8 bytes. Package crc32 could do the
// same, but a slice that it is given is allocated.
func seedCRC(crc uint32, v uint64) uint32 {
	for range 8 {
		crc = castagnoli[byte(crc)^byte(v)] ^ crc>>8
		v >>= 8
	}
	return crc
}

// RecordHeaderSize is the size of the header of a dictionary, meta or exit file.
const RecordHeaderSize = 32

// RecordHeader begins a dictionary, meta or exit file:
//
//	0 magic 4 | 4 version 2 | 6 zero 2 | 8 instance 8 | 16 generation 4 | 20 pid 4 | 24 CRC-32C 4 | 28 zero 4
type RecordHeader struct {
	Magic      string // one of MagicDict, MagicMeta, MagicExit
	Version    uint16
	Instance   uint64
	Generation uint32 // 0 except in a dictionary
	Pid        uint32
}

// AppendRecordHeader appends h with its CRC.
func AppendRecordHeader(dst []byte, h *RecordHeader) []byte {
	at := len(dst)
	dst = append(dst, h.Magic...)
	dst = le.AppendUint16(dst, h.Version)
	dst = le.AppendUint16(dst, 0)
	dst = le.AppendUint64(dst, h.Instance)
	dst = le.AppendUint32(dst, h.Generation)
	dst = le.AppendUint32(dst, h.Pid)
	dst = le.AppendUint32(dst, crc32.Update(0, castagnoli, dst[at:]))
	return le.AppendUint32(dst, 0)
}

// ReadRecordHeader reads the header of a dictionary, meta or exit file. The
// error is an [*Error] of class [ErrTruncated], [ErrMagic], [ErrVersion] or
// [ErrHeader].
func ReadRecordHeader(b []byte) (h RecordHeader, err error) {
	if len(b) < RecordHeaderSize {
		return h, &Error{int64(len(b)), "file header", ErrTruncated}
	}
	h = RecordHeader{string(b[:4]), le.Uint16(b[4:]), le.Uint64(b[8:]), le.Uint32(b[16:]), le.Uint32(b[20:])}
	switch {
	case h.Magic != MagicDict && h.Magic != MagicMeta && h.Magic != MagicExit:
		return h, &Error{0, "file header", ErrMagic}
	case h.Version > Version:
		return h, &Error{4, "file header", ErrVersion}
	case crc32.Update(0, castagnoli, b[:OffRecordCRC]) != le.Uint32(b[OffRecordCRC:]):
		return h, &Error{OffRecordCRC, "file header", ErrHeader}
	}
	return h, nil
}
