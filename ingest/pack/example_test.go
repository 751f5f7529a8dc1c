package pack_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"log"
	"testing/fstest"

	"gprof/chunks"
	"gprof/ingest/pack"
)

// The directory of a process is packed. The archive can be read as if it were the
// directory of the session.
func ExampleWrite() {
	meta, err := chunks.ParseFile("gprM instance=0xe1 pid=300\nmeta key=\"service\" value=\"mill\"\n")
	if err != nil {
		log.Fatal(err)
	}
	recorded := fstest.MapFS{"00000000000000e1/meta": {Data: meta}}
	var archive bytes.Buffer
	sum, err := pack.Write(&archive, []pack.Process{{Instance: 0xe1, FS: recorded, Dir: "00000000000000e1"}}, pack.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sum.Processes, "process")

	opened, err := pack.Open(bytes.NewReader(archive.Bytes()), int64(archive.Len()))
	if err != nil {
		log.Fatal(err)
	}
	names, err := fs.Glob(opened, "*/*")
	fmt.Println(names, err)
	// Output:
	// 1 process
	// [00000000000000e1/meta] <nil>
}
