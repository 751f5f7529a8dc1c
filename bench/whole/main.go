//go:build linux

package main

import (
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"time"
)

// A plan is how long what is measured.
type plan struct {
	rounds, slow  int // blocks of each arm
	block, settle time.Duration
	clients       int
}

func main() {
	switch os.Getenv(roleEnv) {
	case sinkRole:
		log.Fatal(sink())
	case loadRole:
		log.Fatal(ask(os.Args[1], os.Args[2], os.Args[3], os.Args[4:]))
	}
	var p plan
	flag.IntVar(&p.rounds, "rounds", 200, "blocks of each arm that can be switched fast; a third of that for what takes much")
	flag.IntVar(&p.slow, "slow", 1, "blocks of each arm that is switched slowly; 0: none")
	flag.DurationVar(&p.block, "block", 250*time.Millisecond, "how long a block is measured")
	flag.DurationVar(&p.settle, "settle", 50*time.Millisecond, "how long what is switched takes effect before")
	flag.IntVar(&p.clients, "clients", 4, "clients that each have one request under way")
	only := flag.String("server", "", "the one server to measure; default: all, one after the other")
	inPhases := flag.Bool("phases", false, "measure Start, Snapshot and Stop in a process that does nothing else")
	seed := flag.Uint64("seed", 1, "of the order of arms")
	flag.Parse()
	if *inPhases {
		if err := phases(); err != nil {
			log.Fatal(err)
		}
		return
	}
	for _, s := range known {
		if *only != "" && !strings.EqualFold(*only, s.name) {
			continue
		}
		if err := run(s, p, rand.New(rand.NewPCG(*seed, 0))); err != nil {
			log.Fatalf("%s: %v", s.name, err)
		}
	}
}

func run(s server, p plan, random *rand.Rand) error {
	if err := pin(serverCPU); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("/dev/shm", "gprof-whole-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	under, err := s.start(dir)
	if err != nil {
		return err
	}
	defer under.Stop()
	fast, slow, done, err := arms(dir)
	if err != nil {
		return err
	}
	defer done()
	l, err := startLoad(dir, p.clients, under.Address, s.paths)
	if err != nil {
		return err
	}
	defer l.stop()
	time.Sleep(2 * time.Second) // until heap and store are as large as they get
	usual := l.block(time.Second, 0)
	planted.calibrate(time.Duration(usual.cpuPerRequest()))

	fmt.Printf("%s, %d clients, %d processors, %s: %.0f requests a second of %.1f µs of CPU time, blocks of %v\n\n", s.name, p.clients,
		runtime.GOMAXPROCS(0), runtime.Version(), usual.rate(), usual.cpuPerRequest()/1e3, p.block)
	printHead()
	if err := compare(l, fast, p.rounds, p.block, p.settle, random); err != nil {
		return err
	}
	defer fmt.Println()
	return compare(l, slow, p.slow, slowBlock, p.settle, random)
}

// compare measures n blocks of each arm, each between two of nothing, and prints a line
// for each arm.
func compare(l *load, arms []*arm, n int, block, settle time.Duration, random *rand.Rand) error {
	if n == 0 {
		return nil
	}
	found := make([][]trio, len(arms))
	before := l.block(block, settle)
	for round := range n {
		for _, i := range random.Perm(len(arms)) {
			if arms[i].rare && round%3 != 0 {
				continue
			}
			if err := arms[i].on(); err != nil {
				return fmt.Errorf("%s: %w", arms[i].name, err)
			}
			with := l.block(block, settle)
			arms[i].off()
			after := l.block(block, settle)
			found[i] = append(found[i], trio{before, with, after})
			before = after
		}
	}
	for i, a := range arms {
		printArm(a, found[i], random)
	}
	return l.failed()
}
