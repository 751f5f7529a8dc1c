package terminal_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"gprof/convert/terminal"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// A run is summed up, and then shown until the person quits; a terminal that can't is an error.
func ExampleShow() {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Pid: 7, Name: "shop"})
	p.Main.Sample(1000, b.Stack("main.main", "main.work"))

	run := new(terminal.Run)
	if err := stream.Copy(run, b.Source(), stream.CopyOptions{}); err != nil {
		log.Fatal(err)
	}
	os.Setenv("TERM", "dumb")
	fmt.Println(terminal.Show(context.Background(), run))
	// Output:
	// this terminal can't show a graph: TERM=dumb knows no positions
}
