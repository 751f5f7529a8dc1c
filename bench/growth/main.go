//go:build linux

// Growth measures how the cost of a conversion grows with the recording: with its samples, stacks, processes, threads,
// markers, and generations of the dictionary. It prints a table in Markdown and draws a picture. A recording of 10 GB takes
// minutes to make and to convert, and both room on the disk: each is deleted before the next one is made.
//
//	go -C bench run ./growth [-mb 100,1000,10000] [-only generations] [-o growth.svg]
//
// It fails if the last two sizes of something differ by more than a fifth in the CPU time of a byte, without what the kernel takes
// to only read, write and read again as many bytes: a process that does nothing else is run after each conversion.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gprof/bench/internal/program"
	"gprof/chunks"
	"gprof/fixtures/corpus"
)

// dimensions are what grows with the bytes of a recording. The rest of it stays as it is.
var dimensions = []struct {
	name string
	grow func(bytes int64) string // flags of makecorpus
	mem  int64                    // ceiling beyond the default, by MB of the recording, in MiB
	rows int64                    // one of so many bytes is of rows, the others of dictionaries; 0: nearly all are of rows
}{
	{"samples", func(bytes int64) string { return "" }, 0, 0},
	{"stacks", func(bytes int64) string { // each stays in memory; a dictionary is of at most 256 MiB
		n := max(1, bytes/1e9)
		return fmt.Sprint("-grow -generations ", n, " -stacks ", bytes/n/500)
	}, 1, 0},
	{"processes", func(bytes int64) string {
		return fmt.Sprint("-stacks 5000 -threads 4 -writers 1 -chunk 65536 -processes ", bytes/660_000)
	}, 0, 7},
	{"threads", func(bytes int64) string { return fmt.Sprint("-threads ", bytes/100_000) }, 0, 0},
	{"markers", func(bytes int64) string { return "-markers 20000" }, 0, 0},
	{"generations", func(bytes int64) string { return fmt.Sprint("-grow -stacks 20000 -generations ", bytes/20_000_000) }, 1, 0}, // of stacks of its own
}

// tolerated is how much the cost of a byte may grow from one size to the next.
const tolerated = 1.2

// point is what a conversion of some size took.
type point struct {
	program.Cost
	bytes int64         // of chunks and dictionaries
	moves time.Duration // of Kernel: for only moving the bytes
}

func (p point) perByte() float64 { return float64(p.CPU.Nanoseconds()) / float64(p.bytes) }

// ownPerByte is perByte without moves.
func (p point) ownPerByte() float64 {
	return float64((p.CPU - p.moves).Nanoseconds()) / float64(p.bytes)
}

func main() {
	sizes := flag.String("mb", "100,1000,10000", "sizes of the recordings")
	only := flag.String("only", "", "what grows; all")
	out := flag.String("o", "growth.svg", "where the picture goes")
	format := flag.String("f", "firefox", "what recordings become")
	session := flag.String("move", "", "only move the bytes of this recording, and as many as are written to a spill file")
	written := flag.Int64("written", 0, "how many bytes are written, with -move")
	flag.Parse()
	if *session != "" {
		if err := move(*session, *written); err != nil {
			fmt.Fprintln(os.Stderr, "growth:", err)
			os.Exit(1)
		}
		return
	}
	if err := run(strings.Split(*sizes, ","), *only, *format, *out); err != nil {
		fmt.Fprintln(os.Stderr, "growth:", err)
		os.Exit(1)
	}
}

func run(sizes []string, only, format, out string) error {
	dir, remove, err := program.Scratch("growth")
	if err != nil {
		return err
	}
	defer remove()
	tool, err := program.Build(dir)
	if err != nil {
		return err
	}
	fmt.Print("| what grows | MB | CPU s | of it the kernel's | to only move the bytes | CPU ns a byte | without moving | peak MB |\n|---|--:|--:|--:|--:|--:|--:|--:|\n")
	var curves []curve
	var failed []error
	for _, d := range dimensions {
		if only != "" && d.name != only {
			continue
		}
		c := curve{name: d.name}
		for _, size := range sizes {
			mb, err := strconv.ParseInt(size, 10, 64)
			if err != nil {
				return err
			}
			p, err := measure(filepath.Join(dir, "session"), tool, format, 256+d.mem*mb, mb*1e6/max(d.rows, 1), d.grow(mb*1e6))
			if err != nil {
				failed = append(failed, fmt.Errorf("%s, %s MB: %w", d.name, size, err))
				break
			}
			fmt.Printf("| %s | %.0f | %.1f | %.1f | %.1f | %.1f | %.1f | %.0f |\n", d.name, float64(p.bytes)/1e6, p.CPU.Seconds(), p.Kernel.Seconds(),
				p.moves.Seconds(), p.perByte(), p.ownPerByte(), float64(p.Peak)/1e6)
			c.points = append(c.points, p)
		}
		if err := c.check(); err != nil {
			failed = append(failed, err)
		}
		if len(c.points) > 0 {
			curves = append(curves, c)
		}
	}
	if len(curves) > 0 {
		failed = append(failed, picture(curves, out))
	}
	return errors.Join(failed...)
}

// measure makes a recording, and converts it until that took ten seconds in all, or three times. It is the run in
// the middle.
func measure(session, tool, format string, mem, bytes int64, flags string) (point, error) {
	defer os.RemoveAll(session)
	var made corpus.Corpus
	begun := time.Now()
	if err := program.Corpus(&made, append(strings.Fields(flags), "-bytes", fmt.Sprint(bytes), "-o", session)...); err != nil {
		return point{}, err
	}
	read, err := dictionaries(session)
	if err != nil {
		return point{}, err
	}
	read += made.Bytes
	fmt.Fprintf(os.Stderr, "made %.0f MB in %v (%s)\n", float64(read)/1e6, time.Since(begun).Round(time.Second), flags)
	settle(read)
	var runs []program.Cost
	var all time.Duration
	for len(runs) < 3 && (all < 10*time.Second || len(runs) == 0) {
		cost, err := program.Run(exec.Command(tool, session, "-q", "--strict", "-f", format, "-o", "-", "--mem", fmt.Sprint(mem, "MiB")))
		if err != nil {
			return point{}, err
		}
		runs, all = append(runs, cost), all+cost.CPU
	}
	slices.SortFunc(runs, func(a, b program.Cost) int { return cmp.Compare(a.CPU, b.CPU) })
	middle := runs[len(runs)/2]
	moved, err := moves(session, middle.Written)
	return point{middle, read, min(moved.Kernel, middle.Kernel)}, err
}

// dictionaries is the size of all files of a recording but its chunks.
func dictionaries(session string) (n int64, err error) {
	err = filepath.WalkDir(session, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || chunks.KindOf(e.Name()) == chunks.ChunkFile {
			return err
		}
		info, err := e.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	return n, err
}
