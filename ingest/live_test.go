package ingest

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"gprof/fixtures"
	"gprof/rawformat"
	"gprof/stream"
)

// step is the time between two events of a tape, in ns.
const step = 1000

// tape writes numbered events. An event's content follows from its number, so
// that one which was never written can be told.
type tape struct {
	*fixtures.Recording
	n uint64
}

func newTape(t *testing.T, session string, o fixtures.Options) *tape {
	t.Helper()
	r, err := fixtures.New(session, o)
	if err == nil {
		err = r.Define(`def-event id=1 category=0 name="tick" display=3 chart="" tooltip="" table=""`,
			`def-field event=1 position=0 name="n" label="" wire=1 format=0 privacy=0 flags=0`,
			`def-field event=1 position=1 name="check" label="" wire=2 format=1 privacy=0 flags=0`)
	}
	if err != nil {
		t.Fatal(err)
	}
	return &tape{Recording: r}
}

func check(n uint64) uint64 { return n*0x9e3779b97f4a7c15 + 1 }

func (w *tape) write(t *testing.T, events int) {
	t.Helper()
	for range events {
		body := []byte{byte(rawformat.KindInstant), 1, 0}
		body = rawformat.AppendSint(body, step)
		body = rawformat.AppendArgs(body, []rawformat.Arg{rawformat.Uint64(w.n), {Wire: rawformat.WireFloat, Num: check(w.n)}})
		if err := w.Put(body); err != nil {
			t.Fatal(err)
		}
		w.Advance(step)
		w.n++
	}
}

// tapeSink takes the events of a tape and fails on one that was never written.
type tapeSink struct {
	t      *testing.T
	tables *stream.Tables
	seen   map[uint64]bool
}

func (s *tapeSink) Begin(t *stream.Tables) error { s.tables, s.seen = t, map[uint64]bool{}; return nil }
func (s *tapeSink) Close() error                 { return nil }

func (s *tapeSink) Segment(b *stream.Batch) error {
	for i := range b.Len() {
		n, sum := b.Args[0].BitsAt(i), b.Args[1].BitsAt(i)
		at := stream.Time(fixtures.Realtime + (n+1)*step)
		if sum != check(n) || b.Time[i] != at || s.seen[n] {
			s.t.Errorf("event %d at %d with %x was never written so (seen before: %v)", n, b.Time[i]-fixtures.Realtime, sum, s.seen[n])
		}
		s.seen[n] = true
	}
	return nil
}

func readTape(t *testing.T, inputs ...string) *tapeSink {
	t.Helper()
	src, _, err := Open(inputs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	sink := &tapeSink{t: t}
	if err := stream.Copy(sink, src, stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	return sink
}

func (s *tapeSink) lines(r stream.Reason) (lines []stream.Line) {
	for _, l := range s.tables.Ledger.Lines() {
		if l.Reason == r {
			lines = append(lines, l)
		}
	}
	return lines
}

// A foreign tool copies the session through a pipe that stalls at every few
// kilobytes, while the ring turns under it.
func TestTarOfLiveRing(t *testing.T) {
	foreign := 0
	for _, rate := range []int{1, 30, 400, 5000} { // events between two reads
		t.Run(fmt.Sprintf("rate=%d", rate), func(t *testing.T) {
			session := t.TempDir()
			w := newTape(t, session, fixtures.Options{Limit: 6 * rawformat.ChunkAlign})
			w.write(t, 30000) // the ring has turned before
			r := rand.New(rand.NewPCG(1, uint64(rate)))
			copied := t.TempDir()
			tarThrough(t, session, copied, func() {
				w.write(t, r.IntN(2*rate))
				if r.IntN(20) == 0 {
					if err := w.Maintain(); err != nil { // seals pages of the open chunk
						t.Fatal(err)
					}
				}
			})
			got := readTape(t, copied)
			if len(got.seen) == 0 && rate < 1000 { // a faster ring may leave nothing
				t.Error("nothing of the copy was read")
			}
			for _, l := range got.lines(stream.ReasonForeign) {
				foreign++
				if l.Where == "" {
					t.Errorf("the ledger names no page: %+v", l)
				}
			}
		})
	}
	if foreign == 0 {
		t.Error("no page of another epoch was met: the test does not test what it should")
	}
}

// tarThrough runs tar over dir and unpacks what comes out to another one. The
// pipe is narrow; stall is called whenever tar waits for room.
func tarThrough(t *testing.T, dir, to string, stall func()) {
	t.Helper()
	pr, pw, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer pr.Close()
	narrow(t, pw)
	cmd := exec.Command("tar", "-C", dir, "-cf", "-", ".")
	cmd.Stdout, cmd.Stderr = pw, os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pw.Close()
	unpack(t, to, &stallingReader{pr, stall})
	// tar exits with 1 when a file changed while it was read, as it did.
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
		t.Fatal(err)
	}
}

type stallingReader struct {
	r     io.Reader
	stall func()
}

func (s *stallingReader) Read(p []byte) (int, error) {
	s.stall()
	return s.r.Read(p[:min(len(p), 4096)])
}

func unpack(t *testing.T, to string, r io.Reader) {
	t.Helper()
	for tr := tar.NewReader(r); ; {
		h, err := tr.Next()
		if err == io.EOF {
			_, err = io.Copy(io.Discard, r)
		}
		if err != nil || h == nil {
			if err != nil {
				t.Fatal(err)
			}
			return
		}
		name := filepath.Join(to, h.Name)
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(name, 0o700)
		} else {
			var data []byte
			if data, err = io.ReadAll(tr); err == nil {
				err = os.WriteFile(name, data, 0o600)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A ring that has turned keeps the newest events, all of them.
func TestWrappedRingHasNoHoles(t *testing.T) {
	session := t.TempDir()
	w := newTape(t, session, fixtures.Options{Limit: 6 * rawformat.ChunkAlign})
	w.write(t, 100000)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got := readTape(t, session)
	first := w.n
	for n := range got.seen {
		first = min(first, n)
	}
	if first == 0 || uint64(len(got.seen)) != w.n-first {
		t.Errorf("%d events from %d to %d", len(got.seen), first, w.n)
	}
	if lines := got.tables.Ledger.Lines(); len(lines) != 1 || lines[0].Reason != stream.ReasonDiscarded {
		t.Errorf("ledger of a whole ring that has turned: %+v", lines)
	}
}
