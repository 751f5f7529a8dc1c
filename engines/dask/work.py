"""Does the tasks of a plan on Dask: python work.py OUT PLAN [SCHEDULER]

Only names of tasks, and what became of them, pass through Dask. Workers need gprof-convert in
their PATH, and credentials of the store in their environment. Without a scheduler's address the
workers are processes of this machine.
"""

import json
import subprocess
import sys

from dask.distributed import Client, as_completed


def work(task, out, plan):
    """Does a task; an exception has Dask try it again, maybe elsewhere."""
    command = ["gprof-convert", "work", out, "--plan", plan, "--tasks", "-"]
    run = subprocess.run(command, input=task, capture_output=True, text=True)
    answer = json.loads(run.stdout) if run.stdout else {"task": task, "status": "again", "error": run.stderr}
    if answer["status"] == "again":
        raise RuntimeError(str(answer))
    return answer


def main(out, plan, scheduler=None):
    left = subprocess.run(["gprof-convert", "work", out, "--plan", plan, "--list"], check=True, stdout=subprocess.PIPE, text=True)
    tasks = left.stdout.split()
    bad = 0
    with Client(scheduler) as client:
        for future in as_completed(client.map(work, tasks, out=out, plan=plan, pure=False, retries=3)):
            answer = future.result() if future.status == "finished" else {"status": "again", "error": str(future.exception())}
            if answer["status"] not in ("done", "done-before"):
                bad += 1
                print(answer, file=sys.stderr)
    print(f"{len(tasks) - bad} of {len(tasks)} tasks done")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
