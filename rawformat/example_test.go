package rawformat_test

import (
	"fmt"

	"gprof/rawformat"
)

// A reader goes from block to block. It skips unknown kinds by their length.
func ExampleCursor() {
	data, err := rawformat.ParseBlock(nil, `track-start time=100 track=1`)
	if err != nil {
		fmt.Println(err)
	}
	c := rawformat.NewCursor(rawformat.AppendBlock(nil, data), 0)
	for {
		kind, fields, ok := c.Block()
		if !ok {
			break
		}
		fmt.Println(rawformat.Kinds[kind].Name, fields.Sint("time"), fields.Uint("track"))
	}
	fmt.Println(c.Err())
	// Output:
	// track-start 100 1
	// <nil>
}

// Data that ends too early is an error with an offset.
func ExampleCursor_damage() {
	c := rawformat.NewCursor([]byte{0x80}, 4096)
	c.Uint("length")
	fmt.Println(c.Err())
	// Output:
	// offset 4097: length: cut short
}
