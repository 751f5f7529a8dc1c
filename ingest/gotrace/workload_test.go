package gotrace

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"iter"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"runtime/trace"
	"slices"
	"sync"
	"testing"
	"time"

	"gprof/stream"
)

// recorded is a trace of this process while it does some of everything.
var recorded = sync.OnceValues(func() ([]byte, error) {
	var out bytes.Buffer
	if err := pprof.StartCPUProfile(io.Discard); err == nil {
		defer pprof.StopCPUProfile()
	}
	if err := trace.Start(&out); err != nil {
		return nil, err
	}
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	err := work()
	trace.Stop()
	return out.Bytes(), err
})

// work does some of everything that a trace tells of, for as long as a
// generation takes: a second.
func work() error {
	pause := time.NewTicker(150 * time.Millisecond)
	defer pause.Stop()
	for range 8 {
		<-pause.C
		for _, do := range []func() error{tasks, talk, files, allocate, compute, pull} {
			if err := do(); err != nil {
				return err
			}
		}
	}
	return nil
}

// tasks does two tasks, with regions and logs, on goroutines that talk over
// channels and wait for locks.
func tasks() error {
	ctx, task := trace.NewTask(context.Background(), "order")
	defer task.End()
	var all sync.WaitGroup
	var mu sync.Mutex
	numbers := make(chan int)
	for range 4 {
		all.Go(func() { takeNumbers(ctx, numbers, &mu) })
	}
	inner, sub := trace.NewTask(ctx, "count")
	for i := range 40 {
		numbers <- i
	}
	trace.Log(inner, "done", "all numbers")
	close(numbers)
	sub.End()
	all.Wait()
	return nil
}

func takeNumbers(ctx context.Context, numbers <-chan int, mu *sync.Mutex) {
	for n := range numbers {
		trace.WithRegion(ctx, "take", func() {
			defer trace.StartRegion(ctx, "inside").End()
			mu.Lock()
			defer mu.Unlock()
			if n%20 == 0 {
				trace.Logf(ctx, "number", "%d", n)
				runtime.Gosched()
			}
		})
	}
}

// talk sends a few bytes over the network.
func talk() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	echoed := make(chan error, 1)
	go func() { echoed <- echo(l) }()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		return err
	}
	defer c.Close()
	for range 5 {
		if _, err := io.CopyN(c, bytes.NewReader(make([]byte, 64)), 64); err != nil {
			return err
		}
		if _, err := io.CopyN(io.Discard, c, 64); err != nil {
			return err
		}
	}
	c.Close()
	return <-echoed
}

func echo(l net.Listener) error {
	c, err := l.Accept()
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = io.Copy(c, c)
	return err
}

func files() error {
	for range 5 {
		if _, err := os.ReadDir("."); err != nil {
			return err
		}
	}
	return nil
}

// pull switches between goroutines without the scheduler.
func pull() error {
	for whole := range 2 {
		next, stop := iter.Pull(slices.Values([]int{1, 2, 3}))
		for range 1 + 3*whole {
			next()
		}
		stop()
	}
	return nil
}

var kept [][]byte

// allocate makes the garbage collector work, and the program help it.
func allocate() error {
	for range 400 {
		kept = append(kept[max(0, len(kept)-400):], make([]byte, 10_000))
	}
	return nil
}

var sum int

func compute() error {
	for end := time.Now().Add(5 * time.Millisecond); time.Now().Before(end); {
		for i := range 1000 {
			sum += i * sum
		}
	}
	return nil
}

// inMemory opens data as a file.
func inMemory(data []byte) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return &memoryFile{bytes.NewReader(data)}, nil }
}

type memoryFile struct{ *bytes.Reader }

func (m *memoryFile) Close() error               { return nil }
func (m *memoryFile) Stat() (fs.FileInfo, error) { return memoryInfo{m.Size()}, nil }

type memoryInfo struct{ size int64 }

func (i memoryInfo) Name() string       { return "trace.out" }
func (i memoryInfo) Size() int64        { return i.size }
func (i memoryInfo) Mode() fs.FileMode  { return 0o600 }
func (i memoryInfo) ModTime() time.Time { return time.Time{} }
func (i memoryInfo) IsDir() bool        { return false }
func (i memoryInfo) Sys() any           { return nil }

// sourceOf is the source of a trace in memory, as ingest makes it.
func sourceOf(data []byte, o Options) (stream.Source, error) {
	f, err := Open(inMemory(data))
	if f == nil {
		return nil, err
	}
	t := new(stream.Tables)
	t.Processes = []stream.Process{f.Process(nil)}
	return f.Source(t, 1, o), err
}

func record(t *testing.T) []byte {
	t.Helper()
	data, err := recorded()
	if err != nil {
		t.Fatal(err)
	}
	return data
}
