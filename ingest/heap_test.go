package ingest

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"gprof/recorder"
	"gprof/stream"
)

var leak [][]byte

// Of a program that has leaked since its heap was looked at, the process and the ledger
// tell how old the heap samples are, and how little of the heap they explain.
func TestHeapIsDated(t *testing.T) {
	leaking := func(n int) {
		for range n {
			leak = append(leak, make([]byte, 64<<10))
		}
	}
	defer func() { leak = nil }()
	leaking(500)
	runtime.GC()
	runtime.GC()
	rec, err := recorder.Start(recorder.Options{Dir: t.TempDir(), Limit: 4 << 20, CPU: recorder.CPUOff})
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Stop()
	heapOf(t, rec.Session(), func(h stream.Heap, _ string) bool { return h.Sampled != 0 })
	leaking(2000)
	want := int64(2500 * 64 << 10)
	h, line := heapOf(t, rec.Session(), func(h stream.Heap, _ string) bool { return h.InUse >= want && h.Counted >= h.Sampled })
	if share := h.Share(); share < 5 || share > 50 {
		t.Errorf("%+v, %d %%: want a fifth or so", h, share)
	}
	if !strings.Contains(line, " s before the end, ") || !strings.Contains(line, " % of the ") {
		t.Errorf("the ledger says %q", line)
	}
}

// heapOf reads a recording until what it tells of the heap is as it should be.
func heapOf(t *testing.T, session string, ok func(stream.Heap, string) bool) (h stream.Heap, line string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		src, _, err := Open([]string{session}, Options{})
		if err != nil {
			continue // nothing of it is readable yet
		}
		var c stream.Count
		if err := stream.Copy(&c, src, stream.CopyOptions{SpillDir: t.TempDir()}); err != nil {
			t.Fatal(err)
		}
		for _, l := range c.Tables.Ledger.Lines() {
			if l.Reason == stream.ReasonHeap {
				line = l.Where
			}
		}
		if h = c.Tables.Processes[0].Heap; ok(h, line) {
			return h, line
		}
	}
	t.Fatalf("%+v", h)
	return h, line
}
