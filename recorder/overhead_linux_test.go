package recorder_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gprof/chunks"
	"gprof/rawformat"
	"gprof/recorder"
)

// overheads are the recorder's own costs in a recording: those of taking locks, cleaning,
// counters and samples.
func (r *recording) overheads() (parts [4]int64, rows int) {
	for blocks := r.Blocks(func(chunks.Problem) {}); blocks.Next(); {
		if b := blocks.Block(); b.Kind == rawformat.KindOverhead {
			b.Fields.Sint("time")
			for i, name := range []string{"lock", "clean", "counters", "threads"} {
				parts[i] += int64(b.Fields.Uint(name))
			}
			rows++
		}
	}
	return parts, rows
}

// Each part of the recorder's cost is measured, and none is counted twice: together they take no
// longer than the keeper was there.
func TestOverheadParts(t *testing.T) {
	started := time.Now()
	rec := begin(t, recorder.Options{CounterHz: 100})
	await(t, "the cost is written", func() bool {
		acked.Mark(1, payload)
		_, rows := read(t, rec.Dir(), chunks.Unproven, chunks.Stale).overheads()
		return rows >= 3
	})
	r := finish(t, rec)
	parts, rows := r.overheads()
	sum := int64(0)
	for i, part := range parts {
		if sum += part; part <= 0 {
			t.Errorf("part %d of the cost is %d ns", i, part)
		}
	}
	lived := time.Since(started)
	if t.Logf("%d rows: %v ns, %d of %v", rows, parts, sum, lived); sum > int64(lived) {
		t.Error("that is more than there was")
	}
}

var _ = func() bool {
	children["held"] = heldChild
	return true
}()

// heldChild records until its ring is full, and then until its standard input ends.
func heldChild() {
	childRecorder(recorder.Options{Dir: os.Args[1], CounterHz: 100, Limit: heldLimit})
	for range 2 * heldLimit / markerSize {
		acked.Mark(1, payload)
	}
	fmt.Println("full")
	io.Copy(io.Discard, os.Stdin)
}

const heldLimit = 8 << 20

// The counter "recorder memory" is what the system says of our mappings, when the ring is full.
func TestRecorderMemory(t *testing.T) {
	m := runMember(t, child("held", []string{t.TempDir()}))
	line(t, m.out)
	var counted, mapped, resident int64
	await(t, "the counter is what is mapped", func() bool {
		mapped, resident = mappedBelow(t, m.cmd.Process.Pid, filepath.Dir(m.dir))
		memory := read(t, m.dir, chunks.Unproven, chunks.Stale).counters()["recorder memory"]
		if memory == nil || len(memory.values) == 0 || mapped < heldLimit*3/4 {
			return false
		}
		counted = memory.values[len(memory.values)-1]
		return counted == mapped
	})
	// The system may take pages away that were not used for a while, so fewer may be resident.
	if resident > mapped || resident == 0 {
		t.Errorf("%d bytes are counted, %d mapped, %d resident", counted, mapped, resident)
	}
	if counted > heldLimit+rawformat.ControlSize+1<<20 { // sample rings come on top
		t.Errorf("%d bytes are counted, the limit is %d", counted, heldLimit)
	}
	t.Logf("%d bytes are counted, %d mapped, %d resident", counted, mapped, resident)
}

// mappedBelow is how many bytes of files below a directory a process has mapped, and how many
// of these are resident, by the system's list of its mappings.
func mappedBelow(t *testing.T, pid int, dir string) (mapped, resident int64) {
	t.Helper()
	f, err := os.Open(fmt.Sprintf("/proc/%d/smaps", pid))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ours := false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		if at := strings.IndexByte(line, '/'); at >= 0 || !strings.Contains(strings.Fields(line)[0], ":") {
			ours = at >= 0 && strings.HasPrefix(line[at:], dir+string(filepath.Separator))
			continue
		}
		var kilobytes int64
		if n, _ := fmt.Sscanf(line, "Size: %d kB", &kilobytes); n == 1 && ours {
			mapped += kilobytes << 10
		}
		if n, _ := fmt.Sscanf(line, "Rss: %d kB", &kilobytes); n == 1 && ours {
			resident += kilobytes << 10
		}
	}
	return mapped, resident
}
