package archive

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func openZip(t testing.TB, a []byte) (*FS, error) { return OpenZip(inFile(a), "x", options(t)) }

func add(t testing.TB, w *zip.Writer, h zip.FileHeader, data string) {
	t.Helper()
	f, err := w.CreateHeader(&h)
	if err == nil {
		_, err = io.WriteString(f, data)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestHostileZip(t *testing.T) {
	a := zipped(t, func(w *zip.Writer) {
		add(t, w, zip.FileHeader{Name: "s/data-1", Method: zip.Store}, "one")
		add(t, w, zip.FileHeader{Name: `s\data-2`, Method: zip.Deflate}, long)
		add(t, w, zip.FileHeader{Name: "s/"}, "")
		add(t, w, zip.FileHeader{Name: "../data-up", Method: zip.Deflate}, "x")
		add(t, w, zip.FileHeader{Name: `..\data-up`, Method: zip.Deflate}, "x")
		add(t, w, zip.FileHeader{Name: "/data-absolute"}, "x")
		link := zip.FileHeader{Name: "s/data-link"}
		link.SetMode(fs.ModeSymlink | 0o777)
		add(t, w, link, "/etc/passwd")
		device := zip.FileHeader{Name: "s/data-dev"}
		device.SetMode(fs.ModeDevice | 0o600)
		add(t, w, device, "")
		add(t, w, zip.FileHeader{Name: "s/data-big", Method: zip.Deflate}, strings.Repeat("x", limit+1))
		add(t, w, zip.FileHeader{Name: "s/data-stored-big"}, strings.Repeat("x", limit+1))
		add(t, w, zip.FileHeader{Name: "data-twice", Method: zip.Deflate}, "first")
		add(t, w, zip.FileHeader{Name: "data-twice", Method: zip.Deflate}, "second")
		add(t, w, zip.FileHeader{Name: "unwanted", Method: zip.Deflate}, long)
	})
	f, err := openZip(t, a)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := contents(t, f), (map[string]string{"s/data-1": "one", "s/data-2": long, "data-twice": "second"}); !same(got, want) {
		t.Errorf("files %q", got)
	}
	want := []string{"../data-up " + ErrEscape.Error(), `..\data-up ` + ErrEscape.Error(), "/data-absolute " + ErrEscape.Error(), "s/data-link " + ErrLink.Error(),
		"s/data-dev " + ErrSpecial.Error(), "s/data-big " + ErrTooBig.Error(), "s/data-stored-big " + ErrTooBig.Error(), "data-twice " + ErrTwice.Error()}
	if got := refusals(f); !slices.Equal(got, want) {
		t.Errorf("refused %q", got)
	}
	if err := fstest.TestFS(f, "s/data-1", "s/data-2", "data-twice"); err != nil {
		t.Error(err)
	}
}

// directory finds the central directory's entry of a member, to lie in it.
func directoryEntry(t testing.TB, a []byte, name string) []byte {
	t.Helper()
	for at := 0; ; at++ {
		i := bytes.Index(a[at:], []byte("PK\x01\x02"))
		if i < 0 {
			t.Fatalf("%s is not in the directory", name)
		}
		if at += i; bytes.HasPrefix(a[at+46:], []byte(name)) {
			return a[at:]
		}
	}
}

// Sizes, checksums and places that lie cost the member that they lie about.
func TestZipThatLies(t *testing.T) {
	whole := zipped(t, func(w *zip.Writer) {
		add(t, w, zip.FileHeader{Name: "data-1", Method: zip.Deflate}, "one")
		add(t, w, zip.FileHeader{Name: "data-2", Method: zip.Deflate}, long)
		add(t, w, zip.FileHeader{Name: "data-3", Method: zip.Store}, "three")
	})
	le := binary.LittleEndian
	for _, c := range []struct {
		name    string
		lie     func(a []byte)
		files   []string
		refused string
	}{
		{"no lie", func([]byte) {}, []string{"data-1", "data-2", "data-3"}, ""},
		{"small size", func(a []byte) { le.PutUint32(directoryEntry(t, a, "data-2")[24:], 100) }, []string{"data-1", "data-3"}, "data-2 " + ErrDamaged.Error()},
		{"large size", func(a []byte) { le.PutUint32(directoryEntry(t, a, "data-2")[24:], limit) }, []string{"data-1", "data-2", "data-3"}, "data-2 " + ErrTorn.Error()},
		{"huge size", func(a []byte) { le.PutUint32(directoryEntry(t, a, "data-2")[24:], 1<<31) }, []string{"data-1", "data-3"}, "data-2 " + ErrTooBig.Error()},
		{"stored size", func(a []byte) { le.PutUint32(directoryEntry(t, a, "data-3")[24:], 900) }, []string{"data-1", "data-2"}, "data-3 " + ErrLies.Error()},
		{"checksum", func(a []byte) { le.PutUint32(directoryEntry(t, a, "data-2")[16:], 1) }, []string{"data-1", "data-2", "data-3"}, "data-2 " + ErrDamaged.Error()},
		{"packed size", func(a []byte) { le.PutUint32(directoryEntry(t, a, "data-2")[20:], 1<<30) }, []string{"data-1", "data-3"}, "data-2 " + ErrTorn.Error()},
		{"place", func(a []byte) { le.PutUint32(directoryEntry(t, a, "data-2")[42:], 0) }, []string{"data-1", "data-3"}, "data-2 " + ErrOverlap.Error()},
		{"place outside", func(a []byte) { le.PutUint32(directoryEntry(t, a, "data-2")[42:], 1<<30) }, []string{"data-1", "data-3"}, "data-2 " + ErrTorn.Error()},
		{"method", func(a []byte) { le.PutUint16(directoryEntry(t, a, "data-2")[10:], 77) }, []string{"data-1", "data-3"}, "data-2 " + ErrMethod.Error()},
		{"encrypted", func(a []byte) { le.PutUint16(directoryEntry(t, a, "data-2")[8:], 1) }, []string{"data-1", "data-3"}, "data-2 " + ErrMethod.Error()},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := bytes.Clone(whole)
			c.lie(a)
			f, err := openZip(t, a)
			if err != nil {
				t.Fatal(err)
			}
			var files []string
			for name, data := range contents(t, f) {
				files = append(files, name)
				if want := map[string]string{"data-1": "one", "data-2": long, "data-3": "three"}[name]; !strings.HasPrefix(want, data) {
					t.Errorf("%s is %.20q", name, data)
				}
			}
			slices.Sort(files)
			if !slices.Equal(files, c.files) {
				t.Errorf("files %q, want %q", files, c.files)
			}
			if got := strings.Join(refusals(f), ", "); got != c.refused {
				t.Errorf("refused %q, want %q", got, c.refused)
			}
		})
	}
}

// A zip without its directory, or whose end claims a larger or another one, is
// read by the headers of its members, with an error. Nothing is allocated for a
// false size.
func TestZipDirectory(t *testing.T) {
	a := zipped(t, func(w *zip.Writer) { add(t, w, zip.FileHeader{Name: "data-1", Method: zip.Deflate}, long) })
	end := len(a) - 22
	for name, lie := range map[string]func([]byte) []byte{
		"cut":            func(a []byte) []byte { return a[:end] },
		"many members":   func(a []byte) []byte { binary.LittleEndian.PutUint16(a[end+10:], 60000); return a },
		"zip64 missing":  func(a []byte) []byte { binary.LittleEndian.PutUint32(a[end+16:], ^uint32(0)); return a },
		"place":          func(a []byte) []byte { binary.LittleEndian.PutUint32(a[end+16:], 1<<30); return a },
		"directory size": func(a []byte) []byte { binary.LittleEndian.PutUint32(a[end+12:], 1<<30); return a },
		"empty":          func(a []byte) []byte { return nil },
	} {
		f, err := openZip(t, lie(bytes.Clone(a)))
		told := err
		if list, _ := f.Refused(); told == nil && len(list) == 1 {
			told = list[0].Err
		}
		if got := contents(t, f); len(got) > 0 && got["data-1"] != long || !errors.Is(told, ErrDamaged) && !errors.Is(told, ErrTorn) {
			t.Errorf("%s: %v; files %q", name, told, contents(t, f))
		}
	}
}

// The directory of a zip is bounded.
func TestZipOfManyMembers(t *testing.T) {
	a := zipped(t, func(w *zip.Writer) {
		for range 600 {
			add(t, w, zip.FileHeader{Name: strings.Repeat("n", 60000)}, "")
		}
	})
	if _, err := openZip(t, a); !errors.Is(err, ErrMany) {
		t.Errorf("%v, want %v", err, ErrMany)
	}
}

// A zip that is cut anywhere gives what lies before the cut, whether sizes stand
// in front of members or behind them.
func TestTornZip(t *testing.T) {
	want := map[string]string{"s/data-1": "one", "s/data-2": long, "data-3": "three"}
	for name, write := range map[string]func(*zip.Writer){
		"sizes behind": func(w *zip.Writer) {
			add(t, w, zip.FileHeader{Name: "s/"}, "")
			add(t, w, zip.FileHeader{Name: "s/data-1", Method: zip.Deflate}, "one")
			add(t, w, zip.FileHeader{Name: "readme", Method: zip.Deflate}, long)
			add(t, w, zip.FileHeader{Name: "../data-up", Method: zip.Deflate}, "x")
			add(t, w, zip.FileHeader{Name: "s/data-2", Method: zip.Deflate}, long)
			add(t, w, zip.FileHeader{Name: "data-3", Method: zip.Deflate}, "three")
		},
		"sizes in front": func(w *zip.Writer) {
			addSized(t, w, "s/data-1", zip.Store, "one")
			addSized(t, w, "readme", zip.Deflate, long)
			addSized(t, w, "s/data-2", zip.Deflate, long)
			addSized(t, w, "data-3", zip.Store, "three")
		},
	} {
		a := zipped(t, write)
		whole, last := 0, 0
		for cut := 0; cut < len(a)-22; cut += 7 {
			f, err := openZip(t, a[:cut])
			if !errors.Is(err, ErrTorn) && !errors.Is(err, ErrDamaged) {
				t.Fatalf("%s: cut at %d: %v", name, cut, err)
			}
			got := contents(t, f)
			for name, data := range got {
				if w, ok := want[name]; !ok || !strings.HasPrefix(w, data) {
					t.Fatalf("%s: cut at %d: %s is %.20q", name, cut, name, data)
				}
			}
			if whole = 0; same(got, want) {
				whole = 1
			}
			if len(got) < last {
				t.Errorf("%s: cut at %d: %d files, %d before", name, cut, len(got), last)
			}
			last = len(got)
		}
		if whole == 0 {
			t.Errorf("%s: without its directory it is not whole", name)
		}
	}
}

// addSized writes a member as programs do that know its sizes before.
func addSized(t *testing.T, w *zip.Writer, name string, method uint16, data string) {
	t.Helper()
	packed := []byte(data)
	if method == zip.Deflate {
		var b bytes.Buffer
		f, err := flate.NewWriter(&b, 6)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(f, data)
		f.Close()
		packed = b.Bytes()
	}
	f, err := w.CreateRaw(&zip.FileHeader{Name: name, Method: method, CRC32: crc32.ChecksumIEEE([]byte(data)), CompressedSize64: uint64(len(packed)), UncompressedSize64: uint64(len(data))})
	if err == nil {
		_, err = f.Write(packed)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A member that would be too much for the size of the archive is given up at its
// limit, not when all of it has been unpacked.
func TestZipBomb(t *testing.T) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	m, err := w.Create("data")
	if err == nil {
		_, err = m.Write(bytes.Repeat([]byte("A"), 9000))
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	size, o := int64(b.Len()), options(t)
	z := &zipScan{o: o, fs: newFS(), in: &errReaderAt{r: bytes.NewReader(b.Bytes()), left: MaxDirectory}, size: size, allowance: allowance{budget: o.Budget}}
	const left = 5000
	z.see(size)
	z.unpacked = FreeBytes + MaxRatio*size - left // as if that much had come already
	if err := z.all(); !errors.Is(err, ErrBomb) {
		t.Fatalf("%v, want %v", err, ErrBomb)
	}
	if info, err := o.Spool.file.Stat(); err != nil || info.Size() > left+4000 {
		t.Errorf("%d bytes were unpacked, %v", info.Size(), err)
	}
}
