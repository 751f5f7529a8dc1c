package recorder_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gprof/chunks"
	"gprof/chunks/mapping"
	"gprof/recorder"
)

// cutChild records in all ways at once. Each line of its input is answered with
// whether it records, and the line "mark" also with markers that are numbered.
func cutChild() {
	rec := childRecorder(recorder.Options{Dir: os.Args[1], Limit: 4 << 20, CounterHz: 10})
	fmt.Println(rec.Session())
	plain := recorder.NewEvent2("plain", recorder.Int("a"), recorder.Int("b"))
	stack := recorder.NewEvent("stack", recorder.WithStack())
	label := recorder.NewLabel("label")
	ctx, cancel := context.WithCancel(context.Background())
	for i := range 3 {
		go func() {
			_, work := recorder.NewTrack(ctx, fmt.Sprint("track ", i))
			defer work.End()
			for n := 0; ctx.Err() == nil; n++ {
				scope := label.Begin()
				plain.Mark(n, i)
				stack.Mark()
				recorder.Text("text", strings.Repeat("x", n%500))
				scope.End()
			}
		}()
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		if lines.Text() == "mark" {
			cancel()
			for n := range 1000 {
				acked.Mark(n, "abc")
			}
		}
		fmt.Println(rec.Recording(), rec.Err())
	}
	cancel()
	rec.Stop() // it may complain
}

// Somebody cuts all files of a recording short, again and again, while the program
// records in all ways. The program goes on, and what it records afterwards is found;
// where faults are not caught, the recording has ended.
func TestCut(t *testing.T) {
	cmd := child("cut", []string{t.TempDir()})
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	lines := bufio.NewReader(out)
	dir, session := line(t, lines), line(t, lines)
	ask := func(what string) (answer string) {
		fmt.Fprintln(in, what)
		return line(t, lines)
	}
	sizes := []int64{0, 100, 4096, 10000, 30000, 100000}
	for round := range 100 {
		names, _ := filepath.Glob(filepath.Join(dir, "*-*"))
		for _, name := range append(names, filepath.Join(session, "control")) {
			if info, err := os.Stat(name); err == nil {
				os.Truncate(name, min(info.Size(), sizes[rand.IntN(len(sizes))])) // it may be gone by now
			}
		}
		if answer := ask("go on"); answer == "" {
			t.Fatalf("round %d: the program has ended", round)
		}
	}
	if mapping.CatchFaults() != nil {
		waitFor(t, "the end of the recording", func() bool { return ask("go on") == "false "+mapping.ErrCut.Error() })
	} else {
		waitFor(t, "markers that are found", func() bool {
			ask("mark")
			r := read(t, dir, chunks.Gap, chunks.Torn, chunks.Damaged, chunks.Foreign, chunks.Stale, chunks.Unproven, chunks.Unreadable, chunks.Missing)
			return len(r.of("acked")) >= 1000 && r.lost() > 0
		})
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
}
