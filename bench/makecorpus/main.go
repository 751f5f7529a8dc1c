// Makecorpus writes recordings to measure with; see package corpus. It tells as JSON what they have.
//
//	go -C bench run ./makecorpus -o /var/tmp/dumps -processes 1000 -samples 1000000 -chunk 65536 -writers 1 -pprof /var/tmp/pprof
//	go -C bench run ./makecorpus -o /var/tmp/large -samples 5000000 -markers 200 -counts 125 -generations 3 -writers 8 -chunk 65536
//	go -C bench run ./makecorpus -o /var/tmp/fleet -processes 5000 -samples 500000 -markers 500 -versions 4 -stacks 5000 -threads 4 -writers 1 -chunk 65536
//	go -C bench run ./makecorpus -o /var/tmp/10g -bytes 10000000000 -generations 20 -grow -markers 200
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"

	"gprof/fixtures/corpus"
)

func main() {
	var o corpus.Options
	out := flag.String("o", "", "session directory to make")
	flag.IntVar(&o.Processes, "processes", 1, "number of processes")
	flag.IntVar(&o.Samples, "samples", 0, "samples of all processes")
	flag.Int64Var(&o.Bytes, "bytes", 0, "bytes of all processes, instead of samples")
	flag.IntVar(&o.Markers, "markers", 0, "markers for each 1,000 samples")
	flag.IntVar(&o.Counts, "counts", 0, "counter values for each 1,000 samples")
	flag.IntVar(&o.Stacks, "stacks", 0, "distinct stacks")
	flag.IntVar(&o.Threads, "threads", 0, "threads of each process")
	flag.IntVar(&o.Writers, "writers", 0, "writers of each process")
	flag.IntVar(&o.Generations, "generations", 1, "dictionaries of each process")
	flag.BoolVar(&o.Grow, "grow", false, "each generation has stacks of its own")
	flag.IntVar(&o.ChunkFile, "chunk", 0, "bytes of a chunk file")
	flag.IntVar(&o.Versions, "versions", 0, "versions of the program")
	flag.Float64Var(&o.Largest, "largest", 0, "share of the first process, as 0.9")
	flag.Uint64Var(&o.Seed, "seed", 0, "another corpus")
	flag.StringVar(&o.Pprof, "pprof", "", "directory for the same samples as pprof files")
	flag.Parse()
	if err := run(*out, o); err != nil {
		fmt.Fprintln(os.Stderr, "makecorpus:", err)
		os.Exit(1)
	}
}

func run(out string, o corpus.Options) error {
	if out == "" {
		return fmt.Errorf("-o DIR is missing")
	}
	if o.Pprof != "" {
		if err := os.MkdirAll(o.Pprof, 0o700); err != nil {
			return err
		}
	}
	c, err := corpus.Write(out, o)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(c)
}
