package profileproto_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"runtime/pprof"

	"gprof/rawformat/profileproto"
	"gprof/rawformat/protobuf"
)

// The fields of a message are numbered. This counts the types of values in a heap
// profile of this program.
func Example() {
	var profile bytes.Buffer
	if err := pprof.Lookup("heap").WriteTo(&profile, 0); err != nil {
		log.Fatal(err)
	}
	unpacked, err := gzip.NewReader(&profile)
	if err != nil {
		log.Fatal(err)
	}
	b, err := io.ReadAll(unpacked)
	if err != nil {
		log.Fatal(err)
	}
	types := 0
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		value, m := binary.Uvarint(b[n:])
		b = b[n+m:]
		if tag&7 == protobuf.Bytes {
			b = b[value:]
		}
		if tag>>3 == profileproto.ProfileSampleType {
			types++
		}
	}
	fmt.Println(types, "types of values")
	// Output:
	// 4 types of values
}
