package decode_test

import (
	"fmt"
	"io/fs"
	"log"
	"os"

	"gprof/chunks"
	"gprof/decode"
	"gprof/recorder"
	"gprof/stream"
)

// The files of one process become events. Package ingest does this for all
// processes that it finds, with their clocks on one time line.
func ExampleNew() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	rec, err := recorder.Start(recorder.Options{Dir: dir, Service: "shop", Limit: 1 << 20})
	if err != nil {
		log.Fatal(err)
	}
	recorder.Mark("opened")
	rec.Stop()

	files := os.DirFS(dir)
	instances, err := fs.Glob(files, "shop/????????????????")
	if err != nil {
		log.Fatal(err)
	}
	found, err := chunks.OpenProcess(files, instances[0])
	if err != nil {
		log.Fatal(err)
	}
	clock, _ := decode.ClockOf(found)
	t := &stream.Tables{Processes: []stream.Process{decode.Describe(found, clock)}}
	src := decode.New(t, []decode.Input{{Found: found, ID: 1, Clock: clock}}, decode.Options{})
	if err := stream.Copy(stream.Discard, src, stream.CopyOptions{}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(t.Processes[0].Service, t.Processes[0].Exit.Reason)
	// Output:
	// shop stopped
}
