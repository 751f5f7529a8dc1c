package filter_test

import (
	"fmt"

	"gprof/stream"
	"gprof/stream/filter"
	"gprof/stream/streamtest"
)

// rows is a sink that counts.
type rows int

func (r *rows) Begin(*stream.Tables) error { return nil }
func (r *rows) Segment(b *stream.Batch) error {
	*r += rows(b.Len())
	return nil
}
func (r *rows) Close() error { return nil }

// A filter is a source that leaves out rows of another one.
func ExampleByTime() {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Pid: 7, Name: "shop"})
	for at := range stream.Time(10) {
		p.Main.Sample(at, b.Stack("main.main", "main.work"))
	}
	var r rows
	err := stream.Copy(&r, filter.ByTime(b.Source(), 4, 7), stream.CopyOptions{})
	fmt.Println(r, err)
	// Output:
	// 3 <nil>
}
