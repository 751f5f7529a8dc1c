package wording

import (
	"testing"

	"gprof/rawformat"
	"gprof/stream"
)

func TestEachReasonHasWords(t *testing.T) {
	for r := range stream.NumReasons {
		if Reason(r) == "" {
			t.Errorf("%v has no words", r)
		}
	}
}

func TestLine(t *testing.T) {
	for _, tt := range []struct {
		line          stream.Line
		line1, remark string
	}{
		{stream.Line{Reason: stream.ReasonGap, What: "blocks", Count: 3}, "3 blocks", "loss: gap: 3 blocks (chunk is missing)"},
		{stream.Line{Process: "00ff", Reason: stream.ReasonStale, What: "chunks", Where: "chunk 7", Count: 1, Bytes: 4096}, "1 chunks, 4096 bytes: chunk 7",
			"info: 00ff stale chunk 7: 1 chunks, 4096 bytes (was being reused when it was copied)"},
	} {
		if line, remark := Line(tt.line), Remark(tt.line); line != tt.line1 || remark != tt.remark {
			t.Errorf("%+v: %q, %q", tt.line, line, remark)
		}
	}
}

func TestEnd(t *testing.T) {
	for _, tt := range []struct {
		exit        stream.Exit
		isGo        bool
		long, short string
	}{
		{stream.Exit{}, true, "found dead: killed, ended by itself (fatal error, os.Exit), or copied while it ran", ""},
		{stream.Exit{Known: true, Reason: "found dead"}, true, "found dead: killed, or ended by itself (fatal error, os.Exit)", "found dead"},
		{stream.Exit{Known: true, Reason: rawformat.ExitReasons[rawformat.ExitNormal]}, true, "exited with status 0", "exited 0"},
		{stream.Exit{Known: true, Reason: "exited", Code: 2}, false, "exited with status 2", "exited 2"},
		{stream.Exit{Known: true, Reason: "exited", Code: 2}, true, "exited with status 2, as Go programs do after a panic or a fatal error such as out of memory", "exited 2"},
		{stream.Exit{Known: true, Reason: "killed", Code: 9}, true, "killed by signal 9 (SIGKILL)", "killed 9"},
		{stream.Exit{Known: true, Reason: "killed", Code: 64}, true, "killed by signal 64", "killed 64"},
		{stream.Exit{Known: true, Reason: "panicked", Text: "index out of range"}, true, "panicked", "panicked index out of range"},
	} {
		word, how := End(tt.exit, tt.isGo)
		if short := ShortEnd(tt.exit); word+how != tt.long || short != tt.short {
			t.Errorf("%+v: %q, %q", tt.exit, word+how, short)
		}
	}
}

// A heap that shrank after it was sampled is no estimate of what it was before.
func TestHeap(t *testing.T) {
	const second, mib = 1_000_000_000, 1 << 20
	for _, tt := range []struct {
		heap stream.Heap
		text string
	}{
		{stream.Heap{Sampled: 3 * second, Counted: 10 * second, Explained: 150 * mib, InUse: 200 * mib}, "7.0 s before the end, 150.0 MiB, which is 75 % of the 200.0 MiB that the heap had 0.0 s before the end"},
		{stream.Heap{Sampled: 9.5 * second, Counted: 10 * second, Explained: 3 * mib, InUse: 2 * mib}, "0.5 s before the end, 3.0 MiB, an estimate of the 2.0 MiB that the heap had 0.0 s before the end"},
		{stream.Heap{Sampled: 3 * second, Counted: 10 * second, Explained: 178 * mib, InUse: 108 * mib}, "7.0 s before the end, 178.0 MiB; the heap had 108.0 MiB 0.0 s before the end"},
	} {
		if text := Heap(&tt.heap, 10*second); text != tt.text {
			t.Errorf("%+v: %q, want %q", tt.heap, text, tt.text)
		}
	}
}
