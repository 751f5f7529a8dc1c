package protobuf_test

import (
	"fmt"

	"gprof/rawformat/protobuf"
)

// A message is its fields, one after the other.
func Example() {
	var dst []byte
	dst = protobuf.AppendNumber(dst, 1, 300)
	dst = protobuf.AppendBytes(dst, 2, "main.serve")
	dst = protobuf.AppendFixed64(dst, 3, 1_795_000_000_000_000_000)

	m := protobuf.Message{Rest: dst}
	for v, ok := m.Read(); ok; v, ok = m.Read() {
		fmt.Printf("%d: %d %q\n", v.Number, v.Value, v.Bytes)
	}
	fmt.Println("damaged:", m.Bad)
	// Output:
	// 1: 300 ""
	// 2: 10 "main.serve"
	// 3: 1795000000000000000 ""
	// damaged: false
}
