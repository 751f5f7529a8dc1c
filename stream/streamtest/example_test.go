package streamtest_test

import (
	"fmt"

	"gprof/stream"
	"gprof/stream/streamtest"
)

// counter is a sink that counts rows.
type counter struct{ rows int }

func (c *counter) Begin(*stream.Tables) error { return nil }
func (c *counter) Segment(b *stream.Batch) error {
	c.rows += b.Len()
	return nil
}
func (c *counter) Close() error { return nil }

// A Builder makes events by hand, to test a sink with. Validate finds what a source must
// not give.
func ExampleBuilder() {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Pid: 7, Name: "shop"})
	p.Main.Sample(1000, b.Stack("main.main", "main.work"))
	p.Main.Sample(2000, b.Stack("main.main", "main.idle"))
	var c counter
	err := stream.Copy(streamtest.Validate(&c), b.Source(), stream.CopyOptions{})
	fmt.Println(c.rows, err)
	// Output:
	// 2 <nil>
}
