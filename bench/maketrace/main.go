// Maketrace writes a Go execution trace of a given size: of goroutines that pass
// numbers along a chain of channels, take locks, sleep, read files, allocate, and
// do so in regions of tasks. It is for measuring what reads traces.
//
//	go -C bench run ./maketrace -mb 2048 -o /var/tmp/trace.out
//	go build -o /var/tmp ./cmd/gprof-convert
//	/usr/bin/time -v /var/tmp/gprof-convert /var/tmp/trace.out -o parquet=/var/tmp/traced
//	/usr/bin/time -v go tool trace -pprof=sched /var/tmp/trace.out >/var/tmp/sched.pprof
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/trace"
	"sync"
	"time"
)

func main() {
	out := flag.String("o", "trace.out", "file to write")
	mb := flag.Int64("mb", 200, "about how many MiB")
	flag.Parse()
	if err := run(*out, *mb<<20); err != nil {
		fmt.Fprintln(os.Stderr, "maketrace:", err)
		os.Exit(1)
	}
}

func run(name string, size int64) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	full := make(chan struct{})
	w := &counted{w: f, size: size, end: sync.OnceFunc(func() { close(full) })}
	if err := trace.Start(w); err != nil {
		return errors.Join(err, f.Close())
	}
	ctx, stop := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for range chains {
		all.Go(func() { chain(ctx) })
	}
	<-full
	stop()
	all.Wait()
	trace.Stop()
	return errors.Join(w.err, f.Close())
}

// counted calls end when so many bytes have been written, or no more can be. One
// goroutine of the runtime writes.
type counted struct {
	w    io.Writer
	done int64
	size int64
	end  func()
	err  error
}

func (c *counted) Write(b []byte) (n int, err error) {
	if c.err == nil {
		n, c.err = c.w.Write(b)
	}
	if c.done += int64(n); c.done >= c.size || c.err != nil {
		c.end()
	}
	return n, c.err
}

const (
	chains = 4
	links  = 50
)

// chain passes numbers along goroutines until ctx ends, a task for each hundred.
func chain(ctx context.Context) {
	for ctx.Err() == nil {
		taskCtx, task := trace.NewTask(ctx, "hundred")
		first := make(chan int)
		var in <-chan int = first
		var mu sync.Mutex
		for range links {
			out := make(chan int)
			go link(taskCtx, in, out, &mu)
			in = out
		}
		go feed(first)
		for range in {
		}
		task.End()
	}
}

func feed(to chan<- int) {
	defer close(to)
	for n := range 100 {
		to <- n
	}
}

// link passes numbers on, and does something else for some of them.
func link(ctx context.Context, in <-chan int, out chan<- int, mu *sync.Mutex) {
	defer close(out)
	for n := range in {
		trace.WithRegion(ctx, "link", func() { something(n, mu) })
		out <- n
	}
}

func something(n int, mu *sync.Mutex) {
	mu.Lock()
	defer mu.Unlock()
	switch n % 50 {
	case 0:
		os.Stat("/")
	case 1:
		_ = append([]byte(nil), make([]byte, 10_000)...)
	case 2:
		<-time.After(time.Microsecond)
	}
}
