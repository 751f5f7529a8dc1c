// Host is a program of somebody else's that embeds the recorder: its module has it
// by replace. It uses all of it at once, from many goroutines.
package main

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"gprof/recorder"
	_ "gprof/recorder/early"
)

var (
	early    = recorder.NewEvent("before main")
	request  = recorder.NewEvent2("request", recorder.Int("n"), recorder.String("path"))
	stack    = recorder.NewEvent1("stack", recorder.Int("n"), recorder.WithStack())
	done     = recorder.NewCounter("done", recorder.Total())
	label    = recorder.NewLabel("step")
	finished atomic.Int64
)

func init() { early.Mark() }

func main() {
	rec, err := recorder.Start(recorder.Options{Dir: os.Args[1], Service: "host", Limit: 8 << 20, SampleHz: 500, WaitHz: 10,
		HeapEvery: 50 * time.Millisecond, TraceBehind: time.Second, Tracks: []string{"-left out"}, AfterRound: func(recorder.Stats) {}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	var working sync.WaitGroup
	for g := range 8 {
		working.Go(func() { work(ctx, g) })
	}
	for ctx.Err() == nil {
		rec.Pause()
		rec.PauseSampling()
		rec.Resume()
		rec.ResumeSampling()
		rec.Stats()
		for _, err := range []error{second(rec.Snapshot(os.Args[2], time.Second)), second(rec.Trace(time.Millisecond))} {
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
		}
	}
	working.Wait()
	if err := rec.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	fmt.Println(rec.Dir(), finished.Load())
}

func second(_ string, err error) error { return err }

func work(ctx context.Context, g int) {
	for n := 0; ctx.Err() == nil; n++ {
		inner, on := recorder.NewTrack(ctx, []string{"worker", "left out"}[g%2])
		span := request.On(on.Track).Begin(n, "/a")
		scope := label.Begin()
		grown := make([]byte, 1<<10*(g+1))
		child := make(chan struct{})
		go func() {
			defer close(child)
			stack.Mark(n + len(grown))
			recorder.Text("child", "of a request")
		}()
		<-child
		scope.End()
		span.End()
		done.Add(1)
		finished.Add(1)
		on.End()
		_ = inner
	}
}
