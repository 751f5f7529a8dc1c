package stream_test

import (
	"bytes"
	"testing"

	"gprof/stream"
	"gprof/stream/streamtest"
)

// text is what a sink is given for these events.
func text(t *testing.T, src stream.Source, o stream.CopyOptions) string {
	t.Helper()
	var out bytes.Buffer
	if err := stream.Copy(streamtest.NewText(&out), src, o); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestCopySmall(t *testing.T) {
	b := streamtest.NewBuilder()
	late := b.Process(stream.Process{Instance: 2, Pid: 1, Name: "late", Start: 100})
	early := b.Process(stream.Process{Instance: 1, Pid: 1, Name: "early", Start: 50})
	late.Main.Sample(120, b.Stack("main", "b"))
	late.Main.Sample(110, b.Stack("main", "a"))
	early.Track("idle")
	t.Log(text(t, b.Source(), stream.CopyOptions{}))
}
