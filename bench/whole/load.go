//go:build linux

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A load is clients in another process, which each send a request as soon as the last one
// was answered. They count latencies in memory that both processes have mapped.
type load struct {
	shared  *shared
	clients process
}

// shared is what clients have counted.
type shared struct {
	latencies [buckets]atomic.Uint32
	failed    atomic.Uint32
}

const sharedSize = int(unsafe.Sizeof(shared{}))

func mapShared(path string) (*shared, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := f.Truncate(int64(sharedSize)); err != nil {
		return nil, err
	}
	b, err := unix.Mmap(int(f.Fd()), 0, sharedSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	return (*shared)(unsafe.Pointer(&b[0])), nil
}

func startLoad(dir string, clients int, address string, paths []string) (*load, error) {
	path := filepath.Join(dir, "latencies")
	m, err := mapShared(path)
	if err != nil {
		return nil, err
	}
	p, _, err := child(loadRole, append([]string{path, strconv.Itoa(clients), address}, paths...)...)
	return &load{m, p}, err
}

// ask is the clients' process.
func ask(path, clients, address string, paths []string) error {
	if err := pin(clientsCPU); err != nil {
		return err
	}
	m, err := mapShared(path)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(clients)
	if err != nil {
		return err
	}
	for i := range n {
		go func() {
			fmt.Fprintln(os.Stderr, m.client(address, paths, i*7919))
			m.failed.Add(1)
		}()
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// client asks for the paths in turn, from one of them on, until an error. It does without
// http.Client, which would take more CPU time for a request than some servers do.
func (m *shared) client(address string, paths []string, from int) error {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	answers := bufio.NewReader(conn)
	for i := from; ; i++ {
		path := paths[i%len(paths)]
		start := time.Now()
		if _, err := conn.Write([]byte("GET " + path + " HTTP/1.1\r\nHost: " + address + "\r\n\r\n")); err != nil {
			return err
		}
		if err := answer(answers); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		m.latencies[bucketOf(time.Since(start))].Add(1)
	}
}

func answer(answers *bufio.Reader) error {
	r, err := http.ReadResponse(answers, nil)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		return errors.New(r.Status)
	}
	_, err = io.Copy(io.Discard, r.Body)
	return err
}

func (l *load) stop() { l.clients.end() }

func (l *load) failed() error {
	if n := l.shared.failed.Load(); n > 0 {
		return fmt.Errorf("%d clients have failed", n)
	}
	return nil
}

// A block is what happened in a short time.
type block struct {
	cpu       time.Duration // of the whole process
	wall      time.Duration
	requests  uint64
	latencies *histogram
}

func (b block) cpuPerRequest() float64 { return float64(b.cpu) / float64(max(b.requests, 1)) }

func (l *load) block(length, settle time.Duration) block {
	time.Sleep(settle)
	start, cpu, before := time.Now(), cpuTime(), l.snapshot()
	time.Sleep(length)
	b := block{cpu: cpuTime() - cpu, wall: time.Since(start), latencies: l.snapshot()}
	for i := range b.latencies {
		b.latencies[i] -= before[i]
		b.requests += uint64(b.latencies[i])
	}
	return b
}

func (l *load) snapshot() *histogram {
	h := new(histogram)
	for i := range h {
		h[i] = l.shared.latencies[i].Load()
	}
	return h
}

func cpuTime() time.Duration {
	var t unix.Timespec
	unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t)
	return time.Duration(t.Nano())
}

// Buckets of a histogram are a 64th of an octave wide, from a microsecond upwards: 1.1 %.
const (
	perOctave = 64
	buckets   = 22 * perOctave
)

type histogram [buckets]uint32

func bucketOf(d time.Duration) int {
	return min(max(int(math.Log2(float64(d)/1e3)*perOctave), 0), buckets-1)
}

// quantile interpolates within a bucket, so that it moves by less than a bucket's width.
func quantile(h *[buckets]uint64, q float64) float64 {
	var all, below uint64
	for _, n := range h {
		all += n
	}
	want := q * float64(all)
	for i, n := range h {
		if float64(below+n) >= want && n > 0 {
			part := (want - float64(below)) / float64(n)
			return math.Exp2((float64(i)+part)/perOctave) * 1e3
		}
		below += n
	}
	return 0
}
