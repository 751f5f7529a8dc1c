//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"runtime/trace"
	"unsafe"

	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	api "go.opentelemetry.io/otel/trace"

	"gprof/recorder"
)

var (
	two     = recorder.NewEvent2("two", recorder.Int("count"), recorder.Bytes("size"))
	stacked = recorder.NewEvent("stacked", recorder.WithStack())
)

// Names of lines that others are compared with.
const (
	floorLine    = "floor: nanotime and 40 bytes stored"
	markLine     = "marker, two fields"
	disabledLine = "marker, two fields, recording paused"
	intervalLine = "interval, two fields"
	stackLine    = "marker with a stack of 32 frames"
	callersLine  = "runtime.Callers, 32 frames"
	logLine      = "trace.Log"
	regionLine   = "trace.StartRegion, End"
	slogLine     = "slog, JSON, two attributes"
	otelLine     = "OpenTelemetry span, two attributes"
)

// of is a line with that many goroutines.
func of(name string, goroutines int) string {
	if goroutines == 1 {
		return name
	}
	return fmt.Sprintf("%s, %d goroutines", name, goroutines)
}

// lines are all that is measured while rec records.
func lines(rec *recorder.Recorder) (all []line) {
	add := func(name string, goroutines int, run func(int), around func() func()) {
		all = append(all, line{of(name, goroutines), goroutines, run, around})
	}
	add(floorLine, 1, floor, nil)
	for _, k := range []int{1, 2, 4, 8} {
		add(markLine, k, mark, nil)
	}
	add(disabledLine, 1, mark, func() func() { rec.Pause(); return rec.Resume })
	add(intervalLine, 1, interval, nil)
	add(intervalLine, 2, interval, nil)
	add(stackLine, 1, func(n int) { atDepth(n, markStacked) }, nil)
	add(callersLine, 1, func(n int) { atDepth(n, callers) }, nil)
	for _, k := range []int{1, 2} {
		add(logLine, k, traceLog, tracing)
		add(regionLine, k, region, tracing)
	}
	add(slogLine, 1, newSlog(), nil)
	add(otelLine, 1, newSpans(), nil)
	return all
}

func mark(n int) {
	for i := range n {
		two.Mark(i&127, 77)
	}
}

func interval(n int) {
	for i := range n {
		two.Begin(i&127, 77).End()
	}
}

//go:linkname nanotime runtime.nanotime
func nanotime() int64

var floorBuffer [1 << 20]byte

// floor is what no recorder with a time can be below.
func floor(n int) {
	at := 0
	for i := range n {
		if at+40 > len(floorBuffer) {
			at = 0
		}
		p := (*[5]uint64)(unsafe.Pointer(&floorBuffer[at]))
		p[0], p[1], p[2], p[3], p[4] = uint64(nanotime()), uint64(i), 3, 4, 5
		at += 40
	}
}

// atDepth calls f below so many frames that it sees 32.
func atDepth(n int, f func(int)) {
	var all [128]uintptr
	descend(32-runtime.Callers(1, all[:])-2, n, f)
}

//go:noinline
func descend(depth, n int, f func(int)) {
	if depth > 0 {
		descend(depth-1, n, f)
	} else {
		f(n)
	}
	runtime.KeepAlive(depth)
}

func markStacked(n int) {
	for range n {
		stacked.Mark()
	}
}

func callers(n int) {
	var pcs [64]uintptr
	for range n {
		runtime.Callers(1, pcs[:])
	}
}

// tracing has Go's execution tracer on in a round.
func tracing() func() {
	if err := trace.Start(io.Discard); err != nil {
		panic("internal error: " + err.Error())
	}
	return trace.Stop
}

func traceLog(n int) {
	ctx := context.Background()
	for range n {
		trace.Log(ctx, "category", "message")
	}
}

func region(n int) {
	ctx := context.Background()
	for range n {
		trace.StartRegion(ctx, "region").End()
	}
}

func newSlog() func(int) {
	logger, ctx := slog.New(slog.NewJSONHandler(io.Discard, nil)), context.Background()
	return func(n int) {
		for i := range n {
			logger.LogAttrs(ctx, slog.LevelInfo, "two", slog.Int("count", i&127), slog.Int("size", 77))
		}
	}
}

// nowhere exports spans to nowhere.
type nowhere struct{}

func (nowhere) ExportSpans(context.Context, []sdk.ReadOnlySpan) error { return nil }
func (nowhere) Shutdown(context.Context) error                        { return nil }

// newSpans makes spans as a service does: in batches, to an exporter. Ours does
// nothing with them, and what comes too fast for a batch is dropped: both is to their
// advantage.
func newSpans() func(int) {
	tracer := sdk.NewTracerProvider(sdk.WithBatcher(nowhere{})).Tracer("peers")
	return func(n int) {
		ctx := context.Background()
		for i := range n {
			_, span := tracer.Start(ctx, "two", api.WithAttributes(attribute.Int("count", i&127), attribute.Int("size", 77)))
			span.End()
		}
	}
}
