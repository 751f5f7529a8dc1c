package otlpproto_test

import (
	"fmt"

	"gprof/rawformat/otlpproto"
	"gprof/rawformat/protobuf"
)

// A message as JSON: numbers of 64 bits are texts there.
func Example() {
	sample := protobuf.AppendNumber(nil, otlpproto.SampleStack, 4)
	sample = protobuf.AppendBytes(sample, otlpproto.SampleValues, []byte{10})
	fmt.Printf("%s\n", otlpproto.Sample.AppendJSON(nil, sample))
	// Output:
	// {"stackIndex":4,"values":["10"]}
}
