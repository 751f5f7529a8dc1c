package symbols

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"gprof/rawformat/buildid"
)

// ErrXZ means that a kernel's modules are compressed in a way that is not read here.
var ErrXZ = errors.New("modules of a kernel that xz has compressed can't be read: give copies of them behind xz -d")

// maxModule bounds a module that was compressed.
const maxModule = 256 << 20

// isPacked reports whether a name is that of a module that is compressed.
func isPacked(name string) bool {
	return strings.HasSuffix(name, ".ko.gz") || strings.HasSuffix(name, ".ko.zst")
}

// openELF opens a file, which may be a module that is compressed.
func openELF(name string) (*elf.File, error) {
	if !isPacked(name) {
		return elf.Open(name)
	}
	b, err := readPacked(name, maxModule+1)
	if err != nil {
		return nil, err
	}
	if len(b) > maxModule {
		return nil, fmt.Errorf("%s: a module of more than %d bytes", name, maxModule)
	}
	return elf.NewFile(bytes.NewReader(b))
}

// readPacked reads the first n bytes of what a module was before it was compressed, fewer
// if it has no more.
func readPacked(name string, n int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := unpack(name, f)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(io.LimitReader(r, n))
}

// unpack reads what a file of that name was before it was compressed.
func unpack(name string, r io.Reader) (io.ReadCloser, error) {
	if strings.HasSuffix(name, ".gz") {
		return gzip.NewReader(r)
	}
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxModule))
	if err != nil {
		return nil, err
	}
	return z.IOReadCloser(), nil
}

// moduleHead is where the notes of a module usually are: its code stands behind them.
const moduleHead = 8 << 10

// headBuild is the build id of a module that is compressed, "" if it does not stand near
// the front. A system has thousands of modules, so that none is unpacked whole for that.
func headBuild(name string) string {
	b, err := readPacked(name, moduleHead)
	if err != nil {
		return ""
	}
	return buildIn(b)
}

// buildIn is the build id that is noted in the front of a file, "" if none is.
func buildIn(b []byte) string {
	if len(b) < elf.EI_NIDENT {
		return ""
	}
	var order binary.ByteOrder = binary.LittleEndian
	if elf.Data(b[elf.EI_DATA]) == elf.ELFDATA2MSB {
		order = binary.BigEndian
	}
	const before = 12 // what a note has before its owner
	for at := elf.EI_NIDENT; ; at++ {
		i := bytes.Index(b[at:], []byte("GNU\x00"))
		if i < 0 {
			return ""
		}
		if at += i; order.Uint32(b[at-before:]) == 4 && order.Uint32(b[at-4:]) == 3 {
			return buildid.InNotes(order, b[at-before:])
		}
	}
}
