package archive_test

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io/fs"
	"log"
	"strings"
	"testing/fstest"

	"gprof/ingest/archive"
)

// The wanted members of a tar are read as files, in place. Others are not there,
// nor are those whose names lead out of it.
func ExampleOpenTar() {
	var packed bytes.Buffer
	w := tar.NewWriter(&packed)
	for _, name := range []string{"shop/meta", "shop/notes.txt", "../etc/meta"} {
		if err := w.WriteHeader(&tar.Header{Name: name, Size: 5, Mode: 0o600}); err != nil {
			log.Fatal(err)
		}
		fmt.Fprint(w, "hello")
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	spool := archive.NewSpool("")
	defer spool.Close()
	files, err := archive.OpenTar(fstest.MapFS{"x.tar": {Data: packed.Bytes()}}, "x.tar", archive.Options{
		Spool: spool, Budget: new(archive.Budget),
		Want: func(path string, _ []byte) int64 {
			if strings.HasSuffix(path, "/meta") {
				return 1 << 20
			}
			return 0
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	found, err := fs.Glob(files, "*/*")
	refused, _ := files.Refused()
	fmt.Println(found, refused, err)
	// Output:
	// [shop/meta] [{../etc/meta its name leads out of the archive}] <nil>
}
