package otel_test

import (
	"context"
	"testing"

	"go.opentelemetry.io/otel/sdk/trace"

	"gprof/recorder"
	"gprof/recorder/otel"
)

// nothing is a processor that does nothing.
type nothing struct{}

func (nothing) OnStart(context.Context, trace.ReadWriteSpan) {}
func (nothing) OnEnd(trace.ReadOnlySpan)                     {}
func (nothing) Shutdown(context.Context) error               { return nil }
func (nothing) ForceFlush(context.Context) error             { return nil }

// ended keeps the span that ended last, as processors get it.
type ended struct {
	nothing
	span trace.ReadOnlySpan
}

func (e *ended) OnEnd(s trace.ReadOnlySpan) { e.span = s }

// What a span costs with a processor that does nothing, and with ours:
//
//	go -C recorder/otel test -run '^$' -bench . -count 10 | go -C bench tool benchstat -col /processor /dev/stdin
func BenchmarkSpan(b *testing.B) {
	rec, err := recorder.Start(recorder.Options{Service: "bench", Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer rec.Stop()
	for _, p := range []struct {
		name string
		trace.SpanProcessor
	}{{"nothing", nothing{}}, {"gprof", otel.NewProcessor(otel.Options{})}} {
		b.Run("processor="+p.name, func(b *testing.B) {
			tracer := trace.NewTracerProvider(trace.WithSpanProcessor(p)).Tracer("bench")
			b.ReportAllocs()
			for b.Loop() {
				_, span := tracer.Start(context.Background(), "GET /cart/{id}")
				span.End()
			}
		})
	}
}

// What the processor's two calls take, beside a marker of two numbers, and beside asking the SDK for
// what they record, which any processor pays:
//
//	go -C recorder/otel test -run '^$' -bench Calls -count 10 | go -C bench tool benchstat -col /call /dev/stdin
func BenchmarkCalls(b *testing.B) {
	rec, err := recorder.Start(recorder.Options{Service: "bench", Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer rec.Stop()
	p := otel.NewProcessor(otel.Options{})
	var last ended
	ctx, started := trace.NewTracerProvider(trace.WithSpanProcessor(&last)).Tracer("bench").Start(context.Background(), "GET /cart/{id}")
	started.End()
	marker := recorder.NewEvent2("mark", recorder.Int("a"), recorder.Int("b"))
	for _, c := range []struct {
		name string
		call func()
	}{
		{"mark", func() { marker.Mark(1, 2) }},
		{"askstart", func() { askStarted(started.(trace.ReadWriteSpan)) }},
		{"askend", func() { askEnded(last.span) }},
		{"start", func() { p.OnStart(ctx, started.(trace.ReadWriteSpan)) }},
		{"end", func() { p.OnEnd(last.span) }},
	} {
		b.Run("call="+c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.call()
			}
		})
	}
}

var asked any

// askStarted and askEnded ask for what OnStart and OnEnd record.
//
//go:noinline
func askStarted(s trace.ReadWriteSpan) {
	c := s.SpanContext()
	keep(c.IsValid(), s.Name())
}

//go:noinline
func askEnded(s trace.ReadOnlySpan) {
	c, parent := s.SpanContext(), s.Parent()
	keep(c.IsValid() && parent.IsValid() && s.StartTime().Before(s.EndTime()) && s.SpanKind() > 0 && s.Status().Code > 0, s.Name())
}

func keep(all bool, name string) {
	if all && name == "" {
		asked = name
	}
}
