// Rounds measures what rounds over goroutines cost, see [recorder.Options].WallHz, and
// prints a table in Markdown.
package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"time"

	"gprof/chunks"
	"gprof/rawformat"
	"gprof/recorder"
)

const (
	hz     = 100
	warm   = 2 * time.Second
	period = 10 * time.Second
)

func main() {
	fmt.Println("| goroutines | looks at each, a second | the process without rounds, % of a processor | with rounds |")
	fmt.Println("|--:|--:|--:|--:|")
	for _, n := range []int{100, 1000, 10_000, 100_000} {
		if err := measure(n); err != nil {
			log.Fatal(err)
		}
	}
}

// measure prints a line for n goroutines that wait.
func measure(n int) error {
	dir, err := os.MkdirTemp("", "rounds")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	rec, err := recorder.Start(recorder.Options{Dir: dir})
	if err != nil {
		return err
	}
	stop := make(chan bool)
	for range n {
		go func() { <-stop }()
	}
	defer close(stop)
	before := busy()
	rec.SampleWall(hz)
	time.Sleep(known(n)) // until all stacks are known
	rec.SampleWall(0)
	time.Sleep(warm)
	rec.SampleWall(hz)
	with := busy()
	rec.SampleWall(0)
	where := rec.Dir()
	if err := rec.Stop(); err != nil {
		return err
	}
	looks, err := looksIn(where)
	if err != nil {
		return err
	}
	fmt.Printf("| %d | %.1f | %.2f | %.2f |\n", n, float64(looks)/float64(n)/period.Seconds(), before, with)
	return nil
}

// known is how long it takes to read so many stacks.
func known(n int) time.Duration { return warm + time.Duration(n)*time.Second/2000 }

// busy is how much of a processor the process uses, in percent.
func busy() float64 {
	time.Sleep(warm)
	before := cpuTime()
	time.Sleep(period)
	return 100 * float64(cpuTime()-before) / float64(period)
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		log.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

var looksText = regexp.MustCompile(`^wall: .* planned, (\d+) of`)

// looksIn is how many looks the last log of a recording tells of.
func looksIn(dir string) (looks int, err error) {
	p, err := chunks.OpenProcess(os.DirFS(filepath.Dir(dir)), filepath.Base(dir))
	if err != nil {
		return 0, err
	}
	for blocks := p.Blocks(func(chunks.Problem) {}); blocks.Next(); {
		b := blocks.Block()
		if b.Kind != rawformat.KindLog {
			continue
		}
		b.Fields.Sint("time")
		b.Fields.Uint("level")
		if m := looksText.FindSubmatch(b.Fields.Text("text")); m != nil {
			if looks, err = strconv.Atoi(string(m[1])); err != nil {
				return 0, err
			}
		}
	}
	return looks, nil
}
