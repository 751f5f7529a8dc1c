package pgo_test

import (
	"bytes"
	"fmt"
	"log"

	"github.com/google/pprof/profile"

	"gprof/convert"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// A call in two stacks is one sample of two frames, whatever is outside of it.
func Example() {
	b := streamtest.NewBuilder()
	frame := func(name string, start, line int32) stream.Frame {
		return stream.Frame{Function: b.Tables.Strings.Intern(name), Start: start, Line: line, Offset: uint64(line)}
	}
	serve, parse := frame("main.serve", 10, 14), frame("main.parse", 30, 31)
	p := b.Process(stream.Process{Instance: 1, Pid: 7, Name: "shop"})
	for i, outside := range []string{"main.main", "main.worker"} {
		p.Main.Add(streamtest.Row{Time: stream.Time(1000 + i), Stack: b.StackOf(frame(outside, 1, 2), serve, parse), Weight: 1, CPU: 10e6})
	}
	format, options, err := convert.ByName("default.pgo")
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	sink, err := format.New(&file, options)
	if err != nil {
		log.Fatal(err)
	}
	if err := stream.Copy(sink, b.Source(), stream.CopyOptions{}); err != nil {
		log.Fatal(err)
	}
	got, err := profile.Parse(&file)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range got.Sample {
		callee, caller := s.Location[0].Line[0], s.Location[1].Line[0]
		fmt.Printf("%s calls %s in its line %d: %d ms\n", caller.Function.Name, callee.Function.Name, caller.Line-caller.Function.StartLine, s.Value[0]/1e6)
	}
	// Output:
	// main.serve calls main.parse in its line 4: 20 ms
}
