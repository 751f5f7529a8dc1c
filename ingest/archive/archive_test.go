package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

const limit = 64 << 10 // of a member in these tests

// options want what is called data, and a spool that goes with the test.
func options(t testing.TB) Options {
	return optionsIn(t, t.TempDir())
}

func optionsIn(t testing.TB, dir string) Options {
	s := NewSpool(dir)
	t.Cleanup(func() { s.Close() })
	return Options{Spool: s, Budget: new(Budget), Want: func(name string, _ []byte) int64 {
		if strings.HasPrefix(path.Base(name), "data") {
			return limit
		}
		return 0
	}}
}

// shape is one way in which an archive reaches its reader.
type shape struct {
	name string
	open func(t testing.TB, archive []byte) (*FS, error)
}

func inFile(archive []byte) fs.FS { return fstest.MapFS{"x": {Data: archive}} }

var tars = []shape{
	{"file", func(t testing.TB, a []byte) (*FS, error) { return OpenTar(inFile(a), "x", options(t)) }},
	{"stream", func(t testing.TB, a []byte) (*FS, error) { return ReadTar(bytes.NewReader(a), options(t)) }},
	{"one byte", func(t testing.TB, a []byte) (*FS, error) {
		return ReadTar(&trickle{bytes.NewReader(a)}, options(t))
	}},
	{"gzip", func(t testing.TB, a []byte) (*FS, error) {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Write(a)
		w.Close()
		r, err := new(Unpacker).Gunzip(&b)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		return ReadTar(r, options(t))
	}},
	{"zstd", func(t testing.TB, a []byte) (*FS, error) {
		w, err := zstd.NewWriter(nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := new(Unpacker).Unzstd(bytes.NewReader(w.EncodeAll(a, nil)))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		return ReadTar(r, options(t))
	}},
}

// trickle gives a few bytes at a time.
type trickle struct{ r io.Reader }

func (t *trickle) Read(p []byte) (int, error) { return t.r.Read(p[:min(len(p), 7)]) }

// contents reads all files of an FS: from the front, and at any place.
func contents(t testing.TB, f *FS) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(f, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := fs.ReadFile(f, name)
		if err != nil {
			return err
		}
		file, err := f.Open(name)
		if err != nil {
			return err
		}
		defer file.Close()
		again := make([]byte, len(data)+1)
		n, err := file.(io.ReaderAt).ReadAt(again, 0)
		if err != io.EOF || !bytes.Equal(again[:n], data) {
			t.Errorf("%s: ReadAt gives %d bytes, %v, want %d and EOF", name, n, err, len(data))
		}
		all[name] = string(data)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// refusals are the names of what was refused, with the class of the reason.
func refusals(f *FS) (lines []string) {
	list, _ := f.Refused()
	for _, r := range list {
		class := "?"
		for _, e := range []error{ErrEscape, ErrName, ErrLink, ErrSpecial, ErrTooBig, ErrTwice, ErrClash, ErrOverlap, ErrLies, ErrMethod, ErrTorn, ErrDamaged} {
			if errors.Is(r.Err, e) {
				class = e.Error()
			}
		}
		lines = append(lines, r.Name+" "+class)
	}
	return lines
}

func makeTar(t testing.TB, headers ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range headers {
		data := ""
		if h.Typeflag == 0 || h.Typeflag == tar.TypeReg {
			data, h.Linkname = h.Linkname, "" // the test's shorthand
			h.Size = int64(len(data))
		}
		if h.Mode == 0 {
			h.Mode = 0o600
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func same(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if w, ok := b[k]; !ok || v != w {
			return false
		}
	}
	return true
}

var long = strings.Repeat("abcdefghi\n", 3000)

// Sound members come out, whichever way the tar is read. Others are left out,
// and named with the reason.
func TestHostileTar(t *testing.T) {
	a := makeTar(t,
		tar.Header{Name: "./s/data-1", Linkname: "one"},
		tar.Header{Name: "s/readme", Linkname: "nobody wants this"},
		tar.Header{Name: "../data-up", Linkname: "x"},
		tar.Header{Name: "s/../../data-up", Linkname: "x"},
		tar.Header{Name: "/data-absolute", Linkname: "x"},
		tar.Header{Name: "C:/data-drive", Linkname: "x"},
		tar.Header{Name: strings.Repeat("d/", 40) + "data-deep", Linkname: "x"},
		tar.Header{Name: strings.Repeat("n", 5000), Linkname: "x"},
		tar.Header{Name: "s/data-link", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"},
		tar.Header{Name: "s/data-hard", Typeflag: tar.TypeLink, Linkname: "s/data-1"},
		tar.Header{Name: "s/data-dev", Typeflag: tar.TypeChar, Devmajor: 1, Devminor: 3},
		tar.Header{Name: "s/data-block", Typeflag: tar.TypeBlock},
		tar.Header{Name: "s/data-fifo", Typeflag: tar.TypeFifo},
		tar.Header{Name: "s/data-big", Linkname: strings.Repeat("x", limit+1)},
		tar.Header{Name: "s/data-2", Linkname: long},
		tar.Header{Name: "s/data-1/data-below", Linkname: "x"},
		tar.Header{Name: "s", Linkname: "a file, they say"},
		tar.Header{Name: "data-twice", Linkname: "first"},
		tar.Header{Name: "data-twice", Linkname: "second"},
		tar.Header{Name: "s/data-empty"},
		tar.Header{Name: "odd\xff/data-name", Linkname: "kept"},
	)
	want := map[string]string{"s/data-1": "one", "s/data-2": long, "s/data-empty": "", "data-twice": "second", "odd\uFFFD/data-name": "kept"}
	wantRefused := []string{
		"../data-up " + ErrEscape.Error(), "s/../../data-up " + ErrEscape.Error(), "/data-absolute " + ErrEscape.Error(), "C:/data-drive " + ErrEscape.Error(),
		strings.Repeat("d/", 40) + "data-deep " + ErrName.Error(), strings.Repeat("n", MaxName) + " " + ErrName.Error(),
		"s/data-link " + ErrLink.Error(), "s/data-hard " + ErrLink.Error(), "s/data-dev " + ErrSpecial.Error(), "s/data-block " + ErrSpecial.Error(), "s/data-fifo " + ErrSpecial.Error(),
		"s/data-big " + ErrTooBig.Error(), "s/data-1/data-below " + ErrClash.Error(), "data-twice " + ErrTwice.Error(),
	}
	for _, s := range tars {
		t.Run(s.name, func(t *testing.T) {
			f, err := s.open(t, a)
			if err != nil {
				t.Fatal(err)
			}
			if got := contents(t, f); !same(got, want) {
				t.Errorf("files %q", got)
			}
			if got := refusals(f); !slices.Equal(got, wantRefused) {
				t.Errorf("refused %q", got)
			}
		})
	}
}

// An FS keeps the rules of file systems.
func TestFS(t *testing.T) {
	a := makeTar(t, tar.Header{Name: "a/b/data-1", Linkname: "one"}, tar.Header{Name: "a/data-2", Linkname: "two"}, tar.Header{Name: "data-3"})
	for _, s := range tars {
		f, err := s.open(t, a)
		if err == nil {
			err = fstest.TestFS(f, "a/b/data-1", "a/data-2", "data-3")
		}
		if err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
	}
}

// A tar that is cut anywhere gives what lies before the cut, and says that it
// is torn: at its very end only the end mark's second half may be missing.
func TestTornTar(t *testing.T) {
	first, second := "first", strings.Repeat("second ", 300)
	a := makeTar(t, tar.Header{Name: "s/data-1", Linkname: first}, tar.Header{Name: "s/skipped", Linkname: second}, tar.Header{Name: "s/data-2", Linkname: second})
	for _, s := range tars[:3] {
		for cut := block; cut <= len(a)-2*block; cut += block / 2 {
			f, err := s.open(t, a[:cut])
			if !errors.Is(err, ErrTorn) {
				t.Fatalf("%s: cut at %d of %d: %v, want %v", s.name, cut, len(a), err, ErrTorn)
			}
			for name, got := range contents(t, f) {
				if whole := map[string]string{"s/data-1": first, "s/data-2": second}[name]; !strings.HasPrefix(whole, got) {
					t.Errorf("%s: cut at %d: %s is %q", s.name, cut, name, got)
				}
			}
			if cut >= 3*block && contents(t, f)["s/data-1"] != first {
				t.Errorf("%s: cut at %d: what lay before is not there", s.name, cut)
			}
		}
	}
}

// A damaged header costs its member. A second tar behind the first is read;
// other bytes there are an error.
func TestTarGoesOn(t *testing.T) {
	one := makeTar(t, tar.Header{Name: "data-1", Linkname: "one"}, tar.Header{Name: "data-2", Linkname: "two"}, tar.Header{Name: "data-3", Linkname: "three"})
	damaged := bytes.Clone(one)
	damaged[2*block+100] ^= 0xff // in the second header
	two := makeTar(t, tar.Header{Name: "data-4", Linkname: "four"})
	all := map[string]string{"data-1": "one", "data-2": "two", "data-3": "three"}
	without := map[string]string{"data-1": "one", "data-3": "three"}
	joined := map[string]string{"data-1": "one", "data-2": "two", "data-3": "three", "data-4": "four"}
	for _, c := range []struct {
		name string
		tar  []byte
		want map[string]string
		err  error
	}{
		{"damaged", damaged, without, ErrDamaged},
		{"joined", slices.Concat(one, two), joined, nil},
		{"padded", slices.Concat(one, make([]byte, 9<<10)), all, nil},
		{"padded and joined", slices.Concat(one, make([]byte, 9<<10), two), joined, nil},
		{"followed", slices.Concat(one, bytes.Repeat([]byte("junk"), 1000)), all, ErrDamaged},
		{"followed and joined", slices.Concat(one, bytes.Repeat([]byte("junk"), 256), two), joined, ErrDamaged},
	} {
		for _, s := range tars {
			f, err := s.open(t, c.tar)
			if !errors.Is(err, c.err) && !errors.Is(err, ErrTorn) || c.err == nil && err != nil {
				t.Errorf("%s, %s: %v, want %v", c.name, s.name, err, c.err)
			}
			if got := contents(t, f); !same(got, c.want) {
				t.Errorf("%s, %s: %q", c.name, s.name, got)
			}
		}
	}
}

// Zeros take no room in the spool, and are there all the same.
func TestSpoolHoles(t *testing.T) {
	s := NewSpool(t.TempDir())
	defer s.Close()
	const size = 1 << 20
	for _, data := range []string{strings.Repeat("\x00", size), "a" + strings.Repeat("\x00", size) + "b", strings.Repeat("\x00", 100<<10) + "c", ""} {
		off, n, err := s.put(strings.NewReader(data), int64(len(data)))
		if err != nil || n != int64(len(data)) {
			t.Fatalf("%d of %d bytes, %v", n, len(data), err)
		}
		got := make([]byte, n)
		if _, err := s.file.ReadAt(got, off); err != nil || string(got) != data {
			t.Errorf("%d bytes are not what was put: %v", n, err)
		}
	}
}

// A header may claim any size: nothing is allocated for it.
func TestTarClaimsSize(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	w.WriteHeader(&tar.Header{Name: "data-1", Size: 1 << 50, Mode: 0o600, Format: tar.FormatGNU})
	w.Flush()
	for _, s := range tars[:2] {
		f, err := s.open(t, slices.Concat(b.Bytes()[:block], []byte("short")))
		if !errors.Is(err, ErrTorn) || len(refusals(f)) != 1 {
			t.Errorf("%s: %v, refused %q", s.name, err, refusals(f))
		}
	}
}

// A sparse member is read as it unpacks, also where it cannot be read in place.
func TestSparseTar(t *testing.T) {
	// Format 1.0 of GNU: the map stands before the data, in a block of its own.
	sparseMap := "1\n1024\n4\n"
	body := sparseMap + strings.Repeat("\x00", block-len(sparseMap)) + "tail"
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	h := &tar.Header{Name: "GNUSparseFile.0/data-1", Mode: 0o600, Size: int64(len(body)), Format: tar.FormatPAX,
		PAXRecords: map[string]string{"X.sparse.major": "1", "X.sparse.minor": "0", "X.sparse.name": "data-1", "X.sparse.realsize": "1028"}}
	if err := w.WriteHeader(h); err != nil {
		t.Fatal(err)
	}
	io.WriteString(w, body)
	w.Close()
	a := sparseKeys(b.Bytes())
	want := strings.Repeat("\x00", 1024) + "tail"
	for _, s := range tars {
		f, err := s.open(t, a)
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		if got := contents(t, f)["data-1"]; got != want {
			t.Errorf("%s: %d bytes %.20q", s.name, len(got), got)
		}
	}
}

// sparseKeys writes the names of the records that [tar.Writer] refuses to
// write.
func sparseKeys(a []byte) []byte {
	// "GNU" is longer by two: the records' lengths, all of two digits, grow.
	header, body := a[:block], a[block:]
	end := bytes.IndexByte(body, 0)
	var records []byte
	for r := range strings.Lines(string(body[:end])) {
		_, text, _ := strings.Cut(strings.Replace(r, "X.sparse", "GNU.sparse", 1), " ")
		n := len(text) + 3
		records = append(records, fmt.Sprintf("%d %s", n, text)...)
	}
	header = bytes.Clone(header)
	copy(header[124:], fmt.Sprintf("%011o\x00", len(records)))
	copy(header[148:], "        ")
	sum := 0
	for _, c := range header {
		sum += int(c)
	}
	copy(header[148:], fmt.Sprintf("%06o\x00 ", sum))
	return slices.Concat(header, records, make([]byte, block-len(records)), body[block:])
}

// A bomb is given up at its limit, and what came before it is there.
func TestBomb(t *testing.T) {
	for _, kind := range []string{"gzip", "zstd"} {
		t.Run(kind, func(t *testing.T) {
			pr, pw := io.Pipe()
			go func() { pw.CloseWithError(bomb(kind, pw)) }()
			open := map[string]func(io.Reader) (io.ReadCloser, error){"gzip": new(Unpacker).Gunzip, "zstd": new(Unpacker).Unzstd}[kind]
			r, err := open(pr)
			if err != nil {
				t.Fatal(err)
			}
			in := r.(*unpackedStream)
			in.unpacked = FreeBytes // as if that much had come already
			f, err := ReadTar(in, options(t))
			pr.Close()
			if !errors.Is(err, ErrBomb) {
				t.Errorf("%v, want %v", err, ErrBomb)
			}
			if got := contents(t, f); got["data-1"] != "one" {
				t.Errorf("files %q", got)
			}
		})
	}
}

// bomb writes a tar whose second member is endless.
func bomb(kind string, w io.Writer) error {
	var z io.WriteCloser = gzip.NewWriter(w)
	if kind == "zstd" {
		z, _ = zstd.NewWriter(w)
	}
	tw := tar.NewWriter(z)
	tw.WriteHeader(&tar.Header{Name: "data-1", Size: 3, Mode: 0o600})
	io.WriteString(tw, "one")
	tw.WriteHeader(&tar.Header{Name: "data-2", Size: 1 << 40, Mode: 0o600, Format: tar.FormatGNU})
	zeros := make([]byte, 1<<20)
	for {
		if _, err := tw.Write(zeros); err != nil {
			return err
		}
	}
}

// Read errors are returned as such, not as damage.
func TestReadErrors(t *testing.T) {
	a := makeTar(t, tar.Header{Name: "data-1", Linkname: "one"}, tar.Header{Name: "data-2", Linkname: long})
	disk := errors.New("disk on fire")
	f, err := ReadTar(io.MultiReader(bytes.NewReader(a[:3*block]), &failing{disk}), options(t))
	if !errors.Is(err, disk) || errors.Is(err, ErrDamaged) || contents(t, f)["data-1"] != "one" {
		t.Errorf("%v; files %q", err, contents(t, f))
	}
	o := options(t)
	o.Spool.dir = "/nowhere/at/all"
	if _, err := ReadTar(bytes.NewReader(a), o); !errors.Is(err, ErrSpool) {
		t.Errorf("%v, want %v", err, ErrSpool)
	}
}

type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

func TestIsTar(t *testing.T) {
	a := makeTar(t, tar.Header{Name: "data-1", Linkname: "one"})
	if !IsTar(a) || IsTar(make([]byte, block)) || IsTar(a[:block-1]) || IsTar(bytes.Repeat([]byte("a"), block)) {
		t.Error("a tar is told by the checksum of its first header")
	}
}

func zipped(t testing.TB, write func(*zip.Writer)) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	write(w)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
