package otlp

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"gprof/convert/internal/pipeline"
	"gprof/rawformat/otlpproto"
	"gprof/stream"
	"gprof/stream/streamtest"
)

func newSink(json bool) func(w io.Writer) stream.Sink {
	return func(w io.Writer) stream.Sink {
		out, err := pipeline.New(w, pipeline.Options{Jobs: 2})
		if err != nil {
			panic(err)
		}
		return New(out, Options{JSON: json})
	}
}

func TestSink(t *testing.T) {
	streamtest.TestSink(t, newSink(false), nil)
	streamtest.TestSink(t, newSink(true), func(t *testing.T, output []byte) {
		if !json.Valid(output) {
			t.Errorf("no JSON: %.300s", output)
		}
	})
}

// Labels that are ids of a trace and a span, and of the right length, are a link; others stay
// attributes.
func TestLinks(t *testing.T) {
	const trace, span = "0102030405060708090a0b0c0d0e0f10", "0102030405060708"
	for _, tt := range []struct {
		name, trace, span string
		linked            bool
	}{
		{"both", trace, span, true},
		{"a trace alone", trace, "", false},
		{"too short", trace[2:], span, false},
		{"too long", trace, span + "09", false},
		{"no digits", strings.Repeat("x", 32), span, false},
		{"zero", strings.Repeat("0", 32), span, false},
	} {
		b := streamtest.NewBuilder()
		p := b.Process(stream.Process{Instance: 1, Pid: 7, Name: "shop", Service: "shop", Start: 1000, End: 9000})
		labels := b.Tables.Labels.Intern(stream.NewLabelSet(stream.Attr{Key: stream.LabelTrace, Value: tt.trace}, stream.Attr{Key: stream.LabelSpan, Value: tt.span}))
		track := p.Track("worker")
		track.Add(streamtest.Row{Series: stream.Series{Kind: stream.Samples}, Time: 2000, Stack: b.Stack("main.main"), Weight: 1, CPU: 5, Owner: stream.Owner{Labels: labels}})
		var text strings.Builder
		if err := stream.Copy(newSink(true)(&text), b.Source(), stream.CopyOptions{}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(text.String(), `"traceId":"`+trace+`","spanId":"`+span+`"`); got != tt.linked {
			t.Errorf("%s: linked is %v: %s", tt.name, got, text.String())
		}
		if _, unknown, err := otlpproto.Data.AppendProto(nil, []byte(text.String())); err != nil || unknown > 0 {
			t.Errorf("%s: %v, %d unknown fields", tt.name, err, unknown)
		}
	}
}
