package sections

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"

	"gprof/chunks"
	"gprof/rawformat"
)

// Magic begins every section, hence every archive.
const Magic = "gprP"

// Version is the version of archives that this package writes.
const Version = 0

// Kind says what a section holds.
type Kind uint8

const (
	Process   Kind = 1 // which chunk files there are, and their headers
	Meta      Kind = 2
	Exit      Kind = 3
	Dict      Kind = 4
	Chunk     Kind = 5
	End       Kind = 6
	Stacks    Kind = 7
	Trace     Kind = 8
	Directory Kind = 9 // the headers of all sections before it
	NumKinds       = 10
)

var kindNames = [NumKinds]string{"unknown section", "process", "meta", "exit", "dictionary", "chunk", "end", "stack ring", "execution trace", "directory"}

func (k Kind) String() string {
	if k < NumKinds {
		return kindNames[k]
	}
	return fmt.Sprintf("section of type %d", uint8(k))
}

// Sizes of a process section: its head, and one entry of its index.
const (
	IndexHead = 16
	EntrySize = 8 + rawformat.HeaderSize
)

// FlagLive means that the process was recording when it was packed.
const FlagLive = 1

// Limits of what a reader accepts, each checked before anything is allocated.
const (
	// MaxFiles is how many chunk files the indexes of an archive may list for all
	// processes together: 64 GiB in chunks of 64 KiB. A reader holds the index in
	// memory.
	MaxFiles = 1 << 20

	// MaxSections is how many sections an archive may have. Each takes some bytes of a
	// reader's memory.
	MaxSections = 2 * MaxFiles

	// MaxIndex is the largest process section: one index of that many files.
	MaxIndex = IndexHead + MaxFiles*EntrySize

	// MaxOverhead is how many more stored bytes than raw bytes a section may have.
	MaxOverhead = 1 << 10
)

// MaxRaw is the largest raw size of each kind.
var MaxRaw = [NumKinds]uint32{
	Process:   MaxIndex,
	Meta:      rawformat.MaxMetaFile,
	Exit:      rawformat.MaxMetaFile,
	Dict:      rawformat.MaxRecordFile,
	Chunk:     rawformat.MaxChunkFile,
	Stacks:    rawformat.StacksFile,
	Trace:     rawformat.MaxTraceFile,
	Directory: MaxSections * HeaderSize,
}

// Encoding is how the raw bytes of a section are stored.
type Encoding uint8

const (
	Raw          Encoding = 0
	Zstd         Encoding = 1
	Columns      Encoding = 2
	NumEncodings          = 3
)

// HeaderSize is the size of a section's header.
const HeaderSize = 40

// Header begins a section.
type Header struct {
	Kind      Kind
	Encoding  Encoding
	Instance  uint64 // of an end section: the offset of the directory, 0 if there is none
	Number    uint32 // that in the file's name; in an end section: how many sections precede it
	RawSize   uint32
	Size      uint32 // stored bytes after the header
	RawCRC    uint32
	StoredCRC uint32
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum is the CRC-32C that headers state.
func Checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// Append appends h with its own CRC.
func Append(dst []byte, h *Header) []byte {
	at := len(dst)
	dst = append(dst, Magic...)
	dst = binary.LittleEndian.AppendUint16(dst, Version)
	dst = append(dst, byte(h.Kind), byte(h.Encoding))
	dst = binary.LittleEndian.AppendUint64(dst, h.Instance)
	for _, v := range []uint32{h.Number, h.RawSize, h.Size, h.RawCRC, h.StoredCRC} {
		dst = binary.LittleEndian.AppendUint32(dst, v)
	}
	return binary.LittleEndian.AppendUint32(dst, Checksum(dst[at:]))
}

// Read reads a section header; off is its absolute offset. The error is a
// [*rawformat.Error]. With ErrVersion or ErrTooBig the size of the section can still be
// trusted, so that it can be skipped.
func Read(b []byte, off int64) (h Header, err error) {
	fail := func(at int64, err error) (Header, error) {
		return h, &rawformat.Error{Off: off + at, What: "section header", Err: err}
	}
	switch {
	case len(b) < HeaderSize:
		return fail(int64(len(b)), rawformat.ErrTruncated)
	case string(b[:4]) != Magic:
		return fail(0, rawformat.ErrMagic)
	case Checksum(b[:HeaderSize-4]) != binary.LittleEndian.Uint32(b[HeaderSize-4:]):
		return fail(HeaderSize-4, rawformat.ErrChecksum)
	}
	h = Header{
		Kind: Kind(b[6]), Encoding: Encoding(b[7]), Instance: binary.LittleEndian.Uint64(b[8:]), Number: binary.LittleEndian.Uint32(b[16:]),
		RawSize: binary.LittleEndian.Uint32(b[20:]), Size: binary.LittleEndian.Uint32(b[24:]), RawCRC: binary.LittleEndian.Uint32(b[28:]), StoredCRC: binary.LittleEndian.Uint32(b[32:]),
	}
	switch {
	case binary.LittleEndian.Uint16(b[4:]) > Version || h.Kind == 0 || h.Kind >= NumKinds || h.Encoding >= NumEncodings:
		return fail(4, rawformat.ErrVersion)
	case h.RawSize > MaxRaw[h.Kind]:
		return fail(20, rawformat.ErrTooBig)
	case h.Size > h.RawSize+MaxOverhead:
		return fail(24, rawformat.ErrTooBig)
	}
	return h, nil
}

// fileKinds says which files sections hold.
var fileKinds = [NumKinds]chunks.FileKind{Meta: chunks.MetaFile, Exit: chunks.ExitFile, Dict: chunks.DictFile,
	Stacks: chunks.StacksFile, Trace: chunks.TraceFile, Chunk: chunks.ChunkFile}

// FileName is the name of the file that a section holds.
func FileName(kind Kind, number uint32) string { return fileKinds[kind].FileName(number) }

// Named is the inverse of FileName. ok is false for files that are not packed.
func Named(name string) (kind Kind, number uint32, ok bool) {
	k, number := chunks.Named(name)
	i := slices.Index(fileKinds[:], k)
	return Kind(i), number, k != chunks.NoFile && i >= 0
}
