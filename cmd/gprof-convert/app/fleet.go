package app

import "gprof/cmd/internal/fleet"

type planCmd struct{ fleet.PlanCommand }

func (c *planCmd) Help() string {
	return `Examples:
  gprof-convert plan dumps -o tables
  gprof-convert plan s3://dumps/2026-11-23/ -o s3://profiles/2026-11-23 -f pprof --sum
  gprof-convert plan dumps -o out -f parquet,pprof --sum --from 2026-11-23T17:00:00Z

It prints the id of the plan, which work and commit need:

  id=$(gprof-convert plan dumps -o out)
  gprof-convert work out --plan $id --shard 0/2 &
  gprof-convert work out --plan $id --shard 1/2 &
  wait; gprof-convert commit out --plan $id

Inputs of one service and day are converted together, and so is what depends on each
other: snapshots of one process, parents and children. Tables become one data set.
With --sum there is one profile for each service; other formats give a file for each
task. A plan of the same inputs, flags and program is the same plan. After a commit, a
plan of more inputs has only what is new, and replaces what depends on it.

You may not need several machines: one converts 10 GB in some minutes. All three
commands in one process are: gprof-convert batch.`
}

type workCmd struct{ fleet.WorkCommand }

func (c *workCmd) Help() string {
	return `Examples:
  gprof-convert work out --plan 3f2a9c0d1e5b --shard 0/8
  gprof-convert work s3://profiles/monday --plan 3f2a9c0d1e5b      # in a Kubernetes Job, a Slurm array
  gprof-convert work out --plan 3f2a9c0d1e5b --list                # what is left to do
  echo checkout-20261123-5b1e09aa41 | gprof-convert work out --plan 3f2a9c0d1e5b --tasks -

A task may be done twice, also at the same time, and a worker may be killed at any
moment: start it again. What is done is left as it is. The flags of the conversion are
those of the plan.

--tasks prints a line of JSON for each task: {"task":"...","status":"done",...}. The
status is done, done-before, again (another try may work), changed (plan again) or
failed.

Exit codes: 0 all done, 5 if the machine or the store failed, or an input changed since
the plan was made, 1 if a task failed for another reason.`
}

type commitCmd struct{ fleet.CommitCommand }

func (c *commitCmd) Help() string {
	return `Examples:
  gprof-convert commit out --plan 3f2a9c0d1e5b
  gprof-convert commit s3://profiles/monday --plan 3f2a9c0d1e5b --allow-failed

It needs all tasks to be done, adds up the profiles of --sum, and writes below
_gprof/commits which files the whole consists of, and what is missing from them.
Exit codes: 5 if tasks are not done, 1 if inputs could not be read.`
}
