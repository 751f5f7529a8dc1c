package redact_test

import (
	"fmt"

	"gprof/stream"
	"gprof/stream/redact"
	"gprof/stream/streamtest"
)

// hosts is a sink that prints the hosts of processes.
type hosts struct{}

func (hosts) Begin(t *stream.Tables) error {
	for _, p := range t.Processes {
		fmt.Printf("%s on %q\n", p.Name, p.Host)
	}
	return nil
}
func (hosts) Segment(*stream.Batch) error { return nil }
func (hosts) Close() error                { return nil }

// Redaction wraps a source, so that no sink has to know about it.
func Example() {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Pid: 7, Name: "shop", Host: "secret.example.com"})
	p.Main.Sample(1, b.Stack("main.main"))
	src := redact.New(redact.Options{URLs: redact.Drop}).Source(b.Source())
	if err := stream.Copy(hosts{}, src, stream.CopyOptions{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// shop on ""
}
