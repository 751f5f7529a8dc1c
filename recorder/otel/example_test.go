package otel_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"go.opentelemetry.io/otel/sdk/trace"

	"gprof/recorder"
	"gprof/recorder/otel"
)

// A provider with the processor records its spans, beside what else it does with them.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	rec, err := recorder.Start(recorder.Options{Service: "shop", Dir: dir})
	if err != nil {
		log.Print(err) // the program goes on, nothing is recorded
	}
	defer rec.Stop()
	provider := trace.NewTracerProvider(trace.WithSpanProcessor(otel.NewProcessor(otel.Options{Baggage: "tenant"})))
	_, span := provider.Tracer("shop").Start(context.Background(), "GET /cart")
	span.End()
	fmt.Println(rec.Drops().Markers(), "markers were dropped")
	// Output: 0 markers were dropped
}
