package otel_test

import (
	"context"
	"math"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/sdk/trace"
	api "go.opentelemetry.io/otel/trace"

	"gprof/recorder"
	"gprof/recorder/otel"
)

// carrying is a context whose baggage has a tenant.
func carrying(t *testing.T, tenant string) context.Context {
	t.Helper()
	member, err := baggage.NewMember("tenant", tenant)
	if err != nil {
		t.Fatal(err)
	}
	all, err := baggage.New(member)
	if err != nil {
		t.Fatal(err)
	}
	return baggage.ContextWithBaggage(t.Context(), all)
}

// Without a recorder, with one that is paused, and after its end, spans go on.
func TestNobodyRecords(t *testing.T) {
	p := otel.NewProcessor(otel.Options{Baggage: "tenant"})
	tracer := trace.NewTracerProvider(trace.WithSpanProcessor(p)).Tracer("test")
	use := func() {
		ctx, span := tracer.Start(carrying(t, "anna"), "a")
		_, inner := tracer.Start(ctx, "b", api.WithTimestamp(time.Unix(0, math.MinInt64)))
		inner.End(api.WithTimestamp(time.Unix(0, math.MaxInt64)))
		inner.End()
		span.End()
	}
	use()
	rec, err := recorder.Start(recorder.Options{Dir: t.TempDir(), Limit: 4 << 20, CounterHz: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Stop()
	use()
	if n := rec.Drops().Times; n != 1 { // times that are centuries away
		t.Errorf("%d markers were dropped, want the one of impossible times", n)
	}
	rec.Pause()
	use()
	rec.Resume()
	if err := rec.Stop(); err != nil {
		t.Fatal(err)
	}
	use()
	if err := p.ForceFlush(t.Context()); err != nil {
		t.Error(err)
	}
	if err := p.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

// Spans that never end take a bounded amount of memory, and spans of many goroutines don't meet.
func TestManySpans(t *testing.T) {
	rec, err := recorder.Start(recorder.Options{Dir: t.TempDir(), Limit: 4 << 20, CounterHz: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Stop()
	p := otel.NewProcessor(otel.Options{Baggage: "tenant"})
	tracer := trace.NewTracerProvider(trace.WithSpanProcessor(p)).Tracer("test")
	ctx := carrying(t, "anna")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 6000 {
				_, span := tracer.Start(ctx, "never ends")
				if i%100 == 0 {
					span.End()
				}
			}
		})
	}
	all.Wait()
	if n := p.Carried(); n > otel.MaxCarried {
		t.Errorf("the baggage of %d spans is kept, want at most %d", n, otel.MaxCarried)
	}
}

// The recorder's part of a span allocates nothing.
func TestAllocatesNothing(t *testing.T) {
	rec, err := recorder.Start(recorder.Options{Dir: t.TempDir(), Limit: 4 << 20, CounterHz: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Stop()
	p := otel.NewProcessor(otel.Options{})
	var last ended
	ctx, started := trace.NewTracerProvider(trace.WithSpanProcessor(&last)).Tracer("test").Start(t.Context(), "GET /cart/{id}")
	started.End()
	least := math.Inf(1)
	for range 20 { // the recorder's own goroutines allocate now and then
		least = min(least, testing.AllocsPerRun(1000, func() {
			p.OnStart(ctx, started.(trace.ReadWriteSpan))
			p.OnEnd(last.span)
		}))
	}
	if least != 0 {
		t.Errorf("%v allocations", least)
	}
}
