package app

import (
	"gprof/cmd/internal/batch"
	"gprof/cmd/internal/fleet"
	"gprof/cmd/internal/input"
)

type batchCmd struct{ batch.Options }

func (c *batchCmd) Help() string {
	return `Examples:
  gprof-convert batch dumps -o profiles
  gprof-convert batch --strict --fail-if gap -f firefox dumps -o profiles
  gprof-convert batch --symbols bin/ dumps -o profiles    # later, with names
  gprof-convert batch -f firefox.gz,pprof,html dumps -o profiles
  gprof-convert batch -f parquet dumps -o tables
  gprof-convert batch -f pprof --per interval=10s dumps -o profiles
  gprof-convert batch -f pprof --sum --together dumps -o profiles    # one for each service

Each session directory and each archive below DIR becomes one output of the same
path, or one of each format: dumps/a/shop becomes profiles/a/shop.firefox.json.gz. A
bad one is named, and the others go on. One in which no process, track or marker is
what the flags ask for gets no output, and is no failure; one that was made of it
before goes. With --per it becomes a directory of files: dumps/a/shop becomes
profiles/a/shop/shop-4711.pb.gz and so on.

A batch that ended early goes on when it is started again: what is done and whose
input, flags and program have not changed is left as it is. What is done is told
by ` + batch.JournalName + ` and ` + fleet.Dir + ` in OUTDIR; outputs may be taken away, and are made again.

Parquet becomes one data set of all inputs, to which a batch of another directory
adds: in OUTDIR itself if it is the only format, else in OUTDIR/parquet. Its
queries are about all of them:

    cd tables && duckdb <queries/p99-by-version.sql

It is made by a plan, its work and its commit in one process: see plan. Inputs of one
service and day are converted together, and what several hold of one process, such as
snapshots of it while it runs, is counted once; with --last, or other times that count
from the end, each has all of its own. An input that changed replaces what came from it,
and one that is gone takes it along, unless it is kept by --keep-removed. With other
flags all is made again. --together makes sums so, too: one profile for each service.

--mem and --jobs are for all that is converted at a time. Exit codes: 5 if
something was not converted for want of disk, memory or an answer, so that another run
may do it, else 1 if anything was not converted, else 3 for --strict, else 4 for --fail-if.`
}

// Run converts what is not done yet.
func (c *batchCmd) Run(s *input.Tool) error {
	c.Apply()
	return c.Options.Run(s)
}
