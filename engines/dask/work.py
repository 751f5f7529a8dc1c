"""Does the tasks of a plan on Dask: python work.py OUT PLAN [SCHEDULER]

Only names of tasks, and what became of them, pass through Dask. Workers need gprof-convert in
their PATH, and credentials of the store in their environment.
"""

import json
import subprocess
import sys

from dask.distributed import Client, as_completed


def work(task, out, plan):
    """Does a task; an exception has Dask try it again, maybe elsewhere."""
    command = ["gprof-convert", "work", out, "--plan", plan, "--tasks", "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        print(task, file=process.stdin, flush=True)  # stdin ends with this worker, or with the answer
        answer = json.loads(process.stdout.readline() or '{"status": "again", "error": "killed"}')
    if answer["status"] == "again":
        raise RuntimeError(f"{task}: {answer.get('error')}")
    return answer


def main(out, plan, scheduler=None):
    tasks = subprocess.run(["gprof-convert", "work", out, "--plan", plan, "--list"], check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    bad = 0
    with Client(scheduler) as client:
        futures = client.map(work, tasks, out=out, plan=plan, pure=False, retries=3)
        for future in as_completed(futures):
            if future.status != "finished":
                bad += 1
                print(f"not done: {future.exception()!r}", file=sys.stderr)
            elif future.result()["status"] == "failed":
                bad += 1
                print(f"failed: {future.result()}", file=sys.stderr)
    print(f"{len(tasks) - bad} of {len(tasks)} tasks done")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
