package symbols

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
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
	b, err := io.ReadAll(io.LimitReader(r, maxModule+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxModule {
		return nil, fmt.Errorf("%s: a module of more than %d bytes", name, maxModule)
	}
	return elf.NewFile(bytes.NewReader(b))
}

// unpack reads what a file of that name was before it was compressed.
func unpack(name string, r io.Reader) (io.ReadCloser, error) {
	if strings.HasSuffix(name, ".gz") {
		return gzip.NewReader(r)
	}
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxModule))
	if err != nil {
		return nil, err
	}
	return z.IOReadCloser(), nil
}
