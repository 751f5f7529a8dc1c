package gotrace_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"runtime/trace"
	"testing/fstest"

	"gprof/ingest/gotrace"
	"gprof/stream"
)

// A trace of this program is read back. Its tasks are markers.
func ExampleOpen() {
	var recorded bytes.Buffer
	if err := trace.Start(&recorded); err != nil {
		log.Fatal(err)
	}
	_, task := trace.NewTask(context.Background(), "order")
	task.End()
	trace.Stop()

	files := fstest.MapFS{"shop.trace": {Data: recorded.Bytes()}}
	file, err := gotrace.Open(func() (io.ReadCloser, error) { return files.Open("shop.trace") })
	if err != nil {
		log.Fatal(err)
	}
	t := &stream.Tables{Processes: []stream.Process{file.Process(nil)}}
	if err := stream.Copy(stream.Discard, file.Source(t, 1, gotrace.Options{}), stream.CopyOptions{}); err != nil {
		log.Fatal(err)
	}
	for _, e := range t.Events {
		if e.Name == "task" {
			fmt.Println(e.Name)
		}
	}
	// Output:
	// task
}
