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
		{stream.Exit{}, true, "found dead: killed, or ended by itself (fatal error, os.Exit)", ""},
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
