package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"testing"
)

// readable checks that what was found can be read, and is not larger than what
// was wanted.
func readable(t *testing.T, f *FS) {
	if f == nil {
		t.Fatal("no file system for an archive that was opened")
	}
	for name, data := range contents(t, f) {
		if len(data) > limit {
			t.Errorf("%s has %d bytes", name, len(data))
		}
	}
}

func FuzzTar(f *testing.F) {
	f.Add(makeTar(f, tar.Header{Name: "s/data-1", Linkname: "one"}, tar.Header{Name: "s/data-2", Linkname: "two"}))
	f.Add(makeTar(f, tar.Header{Name: "../data-1", Linkname: "one"}, tar.Header{Name: "l", Typeflag: tar.TypeSymlink, Linkname: "/"}))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		in, _ := OpenTar(inFile(data), "x", optionsIn(t, dir))
		stream, _ := ReadTar(bytes.NewReader(data), optionsIn(t, dir))
		readable(t, in)
		readable(t, stream)
		if a, b := contents(t, in), contents(t, stream); !same(a, b) {
			t.Errorf("as a file %q, as a stream %q", a, b)
		}
	})
}

func FuzzZip(f *testing.F) {
	f.Add(zipped(f, func(w *zip.Writer) {
		add(f, w, zip.FileHeader{Name: "s/data-1", Method: zip.Store}, "one")
		add(f, w, zip.FileHeader{Name: "s/data-2", Method: zip.Deflate}, "two two two")
	}))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		z, _ := OpenZip(inFile(data), "x", optionsIn(t, dir))
		readable(t, z)
	})
}

func FuzzInflate(f *testing.F) {
	f.Add([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Add([]byte{0x28, 0xb5, 0x2f, 0xfd, 0x04, 0, 0x19, 0, 0, 'a', 'b', 'c', 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, open := range []func(io.Reader) (io.ReadCloser, error){new(Unpacker).Gunzip, new(Unpacker).Unzstd} {
			if r, err := open(bytes.NewReader(data)); err == nil {
				io.Copy(io.Discard, io.LimitReader(r, 1<<20))
				r.Close()
			}
		}
		want, wantErr := unpack(io.LimitReader(bytes.NewReader(data), 1<<16), new(Unpacker).Gunzip)
		got, err := unpack(io.LimitReader(bytes.NewReader(data), 1<<16), new(Unpacker).GunzipSmall)
		if got != want || fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Errorf("at once %d bytes, %v, want %d, %v", len(got), err, len(want), wantErr)
		}
	})
}
