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

// ErrXZ says that kernel modules are compressed by xz, which is not supported.
var ErrXZ = errors.New("modules of a kernel that xz has compressed can't be read: give copies of them behind xz -d")

// maxModule bounds a decompressed module.
const maxModule = 256 << 20

// isPacked reports whether a name is a compressed module's.
func isPacked(name string) bool {
	return strings.HasSuffix(name, ".ko.gz") || strings.HasSuffix(name, ".ko.zst")
}

// openELF opens a file, decompressing a module.
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

// readPacked decompresses the first n bytes of a module, fewer if it has no more.
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

// unpack decompresses a file of that name.
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

// moduleHead is where a module's notes usually are, before its code.
const moduleHead = 8 << 10

// headBuild is the build id of a compressed module, "" if it is not near the beginning. A system
// has thousands of modules, so none is decompressed whole for that.
func headBuild(name string) string {
	b, err := readPacked(name, moduleHead)
	if err != nil {
		return ""
	}
	return buildIn(b)
}

// buildIn is the build id noted at the beginning of a file, "" for none.
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
