package recorder_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"gprof/recorder"
)

// silentChild makes as many markers as it is told.
func silentChild() {
	n, err := strconv.Atoi(os.Args[2])
	if err != nil {
		panic(err)
	}
	rec, err := recorder.Start(recorder.Options{Dir: os.Args[1], Limit: 2 << 20, CounterHz: -1})
	if err != nil {
		panic(err)
	}
	for i := range n {
		acked.Mark(i, "abc")
		one.Mark(int64(i))
	}
	rec.Stop()
}

// A marker makes no system call: with ten times as many markers, which fill the ring over and
// over, there are not ten times as many calls. The runtime and the keeper make calls of their own.
// They may make one for a hundred markers, and a thousand in a second, because the test takes
// many seconds on a busy machine. With a call for each marker a second would have some ten
// thousand.
func TestNoSystemCallPerMarker(t *testing.T) {
	begun := time.Now()
	few, many := systemCalls(t, 50_000), systemCalls(t, 500_000)
	allowed := 9000 + int(time.Since(begun)/time.Millisecond)
	t.Logf("%d system calls for 100,000 markers, %d for 1,000,000; %d more are allowed", few, many, allowed)
	if many-few > allowed {
		t.Errorf("%d system calls for 100,000 markers, %d for 1,000,000", few, many)
	}
}

func systemCalls(t *testing.T, markers int) int {
	t.Helper()
	counts := filepath.Join(t.TempDir(), "counts")
	cmd := child("silent", []string{t.TempDir(), strconv.Itoa(markers)})
	args := append([]string{"-f", "-c", "-U", "calls,name", "-o", counts, cmd.Path}, cmd.Args[1:]...)
	strace := exec.Command("strace", args...)
	strace.Env = cmd.Env
	if out, err := strace.CombinedOutput(); err != nil {
		t.Fatalf("%v (apt-get install strace): %s", err, out)
	}
	b, err := os.ReadFile(counts)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if fields := strings.Fields(line); len(fields) == 2 && fields[1] == "total" {
			n, err := strconv.Atoi(fields[0])
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("no total in %s", b)
	return 0
}

func TestMarkersDoNotAllocate(t *testing.T) {
	begin(t, recorder.Options{})
	text := strings.Repeat("x", 100)
	for name, mark := range map[string]func(){
		"none":     func() { none.Mark() },
		"one":      func() { one.Mark(5) },
		"two":      func() { two.Mark(5, text) },
		"three":    func() { three.Start(1, true, 2) },
		"four":     func() { four.Mark(1, 2, text, 4) },
		"interval": func() { defer two.Begin(1, text).End() },
		"untyped":  func() { recorder.Mark("untyped") },
		"text":     func() { recorder.Text("text", text) },
		"options": func() {
			recorder.Text("options", text, recorder.At(1), recorder.InCategory(elsewhere), recorder.OnTrack(nil), recorder.Here())
		},
		"category": func() { one.In(elsewhere).Mark(5) },
		"stack":    func() { stacked.Mark(1) },
		"many": func() {
			many.Mark(recorder.V(1), recorder.V(text), recorder.V(2.5), recorder.V(true), recorder.V(time.Second))
		},
		"at a time":    func() { two.MarkAt(1, 5, text) },
		"between":      func() { three.Between(1, 2, 1, true, 2) },
		"many between": func() { many.Between(1, 2, recorder.V(1), recorder.V(text)) },
		"span of many": func() {
			defer many.Begin(recorder.V(1), recorder.V(text)).End()
		},
	} {
		if n := leastAllocs(mark); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// leastAllocs is how often f allocates. It counts allocations of the whole process, in which the
// recorder's own goroutines work now and then, so it returns the minimum of some rounds.
func leastAllocs(f func()) float64 {
	least := testing.AllocsPerRun(1000, f)
	for i := 0; i < 20 && least > 0; i++ {
		least = min(least, testing.AllocsPerRun(1000, f))
	}
	return least
}
