package pack

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

// ErrCut is the class of a problem that an archive ends too early.
var ErrCut = rawformat.ErrTruncated

// Version is the version of archives that this package writes.
const Version = 0

// sectionType says what a section holds.
type sectionType uint8

const (
	typeProcess sectionType = 1 // which chunk files there are, and their headers
	typeMeta    sectionType = 2
	typeExit    sectionType = 3
	typeDict    sectionType = 4
	typeChunk   sectionType = 5
	typeEnd     sectionType = 6
	typeStacks  sectionType = 7
	typeTrace   sectionType = 8
	numTypes                = 9
)

var typeNames = [numTypes]string{"unknown section", "process", "meta", "exit", "dictionary", "chunk", "end", "stack ring", "execution trace"}

func (t sectionType) String() string {
	if t < numTypes {
		return typeNames[t]
	}
	return fmt.Sprintf("section of type %d", uint8(t))
}

// Sizes of a process section: its head, and one entry of its index.
const (
	indexHead = 16
	entrySize = 8 + rawformat.HeaderSize
)

// flagLive: the process was recording when it was packed.
const flagLive = 1

// Limits of what a reader accepts, each checked before anything is allocated.
const (
	// maxFiles is how many chunk files the indexes of an archive may list, of
	// all processes: 64 GiB in chunks of 64 KiB. A reader holds the index in
	// memory.
	maxFiles = 1 << 20

	// maxSections bounds an archive's sections, each of which takes some bytes
	// of a reader's memory.
	maxSections = 2 * maxFiles

	// maxIndex is the largest process section: one index of that many files.
	maxIndex = indexHead + maxFiles*entrySize

	// maxOverhead is by how much stored bytes may exceed raw ones.
	maxOverhead = 1 << 10
)

// maxRaw is the largest raw size of each type.
var maxRaw = [numTypes]uint32{
	typeProcess: maxIndex,
	typeMeta:    rawformat.MaxMetaFile,
	typeExit:    rawformat.MaxMetaFile,
	typeDict:    rawformat.MaxRecordFile,
	typeChunk:   rawformat.MaxChunkFile,
	typeStacks:  rawformat.StacksFile,
	typeTrace:   rawformat.MaxTraceFile,
}

// encoding is how the raw bytes of a section are stored.
type encoding uint8

const (
	encodingRaw     encoding = 0
	encodingZstd    encoding = 1
	encodingColumns encoding = 2
	numEncodings             = 3
)

// headerSize is that of a section's header.
const headerSize = 40

// header begins a section.
type header struct {
	kind      sectionType
	encoding  encoding
	instance  uint64
	number    uint32 // of the file in its name; of an end: how many sections stand before it
	rawSize   uint32
	size      uint32 // stored bytes behind the header
	rawCRC    uint32
	storedCRC uint32
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// appendHeader appends h with its own CRC.
func appendHeader(dst []byte, h *header) []byte {
	at := len(dst)
	dst = append(dst, Magic...)
	dst = binary.LittleEndian.AppendUint16(dst, Version)
	dst = append(dst, byte(h.kind), byte(h.encoding))
	dst = binary.LittleEndian.AppendUint64(dst, h.instance)
	for _, v := range []uint32{h.number, h.rawSize, h.size, h.rawCRC, h.storedCRC} {
		dst = binary.LittleEndian.AppendUint32(dst, v)
	}
	return binary.LittleEndian.AppendUint32(dst, checksum(dst[at:]))
}

// readHeader reads a section header at an absolute offset. The error is a
// [*rawformat.Error]. With ErrVersion or ErrTooBig the size of the section can
// be trusted all the same, so that it can be passed over.
func readHeader(b []byte, off int64) (h header, err error) {
	fail := func(at int64, err error) (header, error) {
		return h, &rawformat.Error{Off: off + at, What: "section header", Err: err}
	}
	switch {
	case len(b) < headerSize:
		return fail(int64(len(b)), rawformat.ErrTruncated)
	case string(b[:4]) != Magic:
		return fail(0, rawformat.ErrMagic)
	case checksum(b[:headerSize-4]) != binary.LittleEndian.Uint32(b[headerSize-4:]):
		return fail(headerSize-4, rawformat.ErrChecksum)
	}
	h = header{
		kind: sectionType(b[6]), encoding: encoding(b[7]), instance: binary.LittleEndian.Uint64(b[8:]), number: binary.LittleEndian.Uint32(b[16:]),
		rawSize: binary.LittleEndian.Uint32(b[20:]), size: binary.LittleEndian.Uint32(b[24:]), rawCRC: binary.LittleEndian.Uint32(b[28:]), storedCRC: binary.LittleEndian.Uint32(b[32:]),
	}
	switch {
	case binary.LittleEndian.Uint16(b[4:]) > Version || h.kind == 0 || h.kind >= numTypes || h.encoding >= numEncodings:
		return fail(4, rawformat.ErrVersion)
	case h.rawSize > maxRaw[h.kind]:
		return fail(20, rawformat.ErrTooBig)
	case h.size > h.rawSize+maxOverhead:
		return fail(24, rawformat.ErrTooBig)
	}
	return h, nil
}

// fileKinds says which files sections hold.
var fileKinds = [numTypes]chunks.FileKind{typeMeta: chunks.MetaFile, typeExit: chunks.ExitFile, typeDict: chunks.DictFile,
	typeStacks: chunks.StacksFile, typeTrace: chunks.TraceFile, typeChunk: chunks.ChunkFile}

// fileName is the name of the file that a section holds.
func fileName(kind sectionType, number uint32) string { return fileKinds[kind].FileName(number) }

// parseName is the inverse of fileName. ok is false for files that are not packed.
func parseName(name string) (kind sectionType, number uint32, ok bool) {
	k, number := chunks.Named(name)
	i := slices.Index(fileKinds[:], k)
	return sectionType(i), number, k != chunks.NoFile && i >= 0
}
