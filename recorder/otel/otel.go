// Package otel records the spans of OpenTelemetry's SDK, so that the recording says which request
// each sample worked for, and which requests were under way when the program died.
//
//	provider := trace.NewTracerProvider(trace.WithBatcher(exporter), trace.WithSpanProcessor(otel.NewProcessor(otel.Options{})))
//
// A span that the SDK records, sampled or not, is an interval on the row of the goroutine that ends
// it, with its ids, its parent's, its kind and status. It is announced when it starts, so that one
// that never ends is in the recording, too. Outputs name the span of each sample that its
// goroutine took between start and end: see [gprof/recorder.TraceID]. Attributes, events and links
// of spans are not recorded.
//
// A span costs two markers. Nothing is exported, and nothing that others export is changed.
package otel

import (
	"context"
	"unsafe"

	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace"
	api "go.opentelemetry.io/otel/trace"

	"gprof/recorder"
)

// Options say what is recorded of spans.
type Options struct {
	// Baggage is the key of the member of baggage, such as a tenant, whose value is recorded with
	// each span that started with it; "": none. It costs a lookup at each start.
	Baggage string
}

// Processor records spans. It may be used by any number of goroutines.
type Processor struct {
	key   string
	carry carried
}

// NewProcessor returns a processor for [trace.WithSpanProcessor]. It records while a recorder runs.
func NewProcessor(o Options) *Processor { return &Processor{key: o.Baggage} }

var _ trace.SpanProcessor = (*Processor)(nil)

// span is what all spans are markers of.
var span = recorder.NewEventN("span", []recorder.AnyField{
	recorder.TraceID("trace_id").Searchable(), recorder.SpanID("span_id"), recorder.String("name").Name().Searchable(), recorder.Word("baggage"),
	recorder.SpanID("parent_id"), recorder.Word("kind"), recorder.Word("status"),
}, recorder.Type("span"), recorder.Category("Trace", "purple"), recorder.Description("a span of OpenTelemetry"),
	recorder.TableLabel("{marker.data.name} {marker.data.status}"))

// OnStart announces a span, with what is needed to know it by.
func (p *Processor) OnStart(ctx context.Context, s trace.ReadWriteSpan) {
	c := s.SpanContext()
	of, id := c.TraceID(), c.SpanID()
	if p.key == "" {
		span.Start(idOf(of[:]), idOf(id[:]), recorder.V(s.Name()))
		return
	}
	carries := baggage.FromContext(ctx).Member(p.key).Value()
	if carries != "" {
		p.carry.put(id, carries)
	}
	span.Start(idOf(of[:]), idOf(id[:]), recorder.V(s.Name()), recorder.V(carries))
}

// OnEnd records a span.
func (p *Processor) OnEnd(s trace.ReadOnlySpan) {
	c := s.SpanContext()
	of, id, parent := c.TraceID(), c.SpanID(), s.Parent().SpanID()
	begin, end := recorder.TimeOf(s.StartTime()), recorder.TimeOf(s.EndTime())
	carries := ""
	if p.key != "" {
		carries = p.carry.take(id)
	}
	span.Between(begin, end, idOf(of[:]), idOf(id[:]), recorder.V(s.Name()), recorder.V(carries),
		idOf(parent[:]), recorder.V(kinds[s.SpanKind()&7]), recorder.V(statuses[s.Status().Code&3]))
}

// idOf is the bytes of an id, which must not change while the value is in use, without a copy.
func idOf(id []byte) recorder.Arg { return recorder.V(unsafe.String(unsafe.SliceData(id), len(id))) }

// Shutdown does nothing: the program stops its recorder itself.
func (p *Processor) Shutdown(context.Context) error { return nil }

// ForceFlush does nothing: what was recorded is safe already.
func (p *Processor) ForceFlush(context.Context) error { return nil }

var kinds = [8]string{api.SpanKindInternal: "internal", api.SpanKindServer: "server", api.SpanKindClient: "client", api.SpanKindProducer: "producer", api.SpanKindConsumer: "consumer"}

var statuses = [4]string{codes.Error: "error", codes.Ok: "ok"}
