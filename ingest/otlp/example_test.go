package otlp_test

import (
	"bytes"
	"fmt"
	"io"
	"log"

	"gprof/ingest/otlp"
	"gprof/rawformat/otlpproto"
	"gprof/rawformat/protobuf"
)

// Each resource of a file is a process, by what its attributes say.
func ExampleOpen() {
	name := protobuf.AppendBytes(nil, otlpproto.KeyName, "service.name")
	value := protobuf.AppendBytes(nil, otlpproto.ValueString, "checkout")
	attribute := protobuf.AppendBytes(nil, otlpproto.ResourceAttribute, protobuf.AppendBytes(name, otlpproto.KeyValue, value))
	resource := protobuf.AppendBytes(nil, otlpproto.ResourceProfilesResource, attribute)
	data := protobuf.AppendBytes(nil, otlpproto.DataResource, resource)

	f, err := otlp.Open(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil })
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range f.Processes() {
		fmt.Println(p.Service)
	}
	// Output:
	// checkout
}
