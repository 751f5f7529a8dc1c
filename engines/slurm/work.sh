#!/usr/bin/env bash
#SBATCH --job-name=gprof
#SBATCH --requeue
# Does the tasks of a plan on Slurm: sbatch --wait --array=0-15 work.sh OUT PLAN
#
# Each element of the array does its share of the tasks: the command sees in the environment which
# one it is, and of how many. Slurm itself starts an element again whose node was lost; what is
# done is not done again.
set -u

for pause in 1 10 60 0; do
	gprof-convert work "$1" --plan "$2" -q && exit
	status=$?
	# 5 is an error that may be over soon; more than 128 means that it was killed.
	[ $status -eq 5 ] || [ $status -gt 128 ] || break
	sleep $pause
done
exit $status
