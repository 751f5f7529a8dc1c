package ingest_test

import (
	"fmt"
	"log"
	"os"

	"gprof/ingest"
	"gprof/recorder"
	"gprof/stream"
)

// A recording is opened as one source of events, which goes to any sink.
func ExampleOpen() {
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

	src, found, err := ingest.Open([]string{dir}, ingest.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer found.Close()
	if err := stream.Copy(stream.Discard, src, stream.CopyOptions{}); err != nil {
		log.Fatal(err)
	}
	for _, p := range src.Tables().Processes {
		fmt.Println(p.Service, p.Exit.Reason)
	}
	// Output:
	// shop stopped
}
