"""Does the tasks of a plan on Ray: ray job submit --working-dir . -- python work.py OUT PLAN

Only names of tasks, and what became of them, pass through Ray. Nodes need gprof-convert in their
PATH, and credentials of the store in the environment of ray start. Where there is no cluster
(RAY_ADDRESS), the workers are processes of this machine.
"""

import json
import subprocess
import sys

import ray


@ray.remote(max_retries=3, retry_exceptions=True)
def work(task, out, plan):
    """Does a task; Ray tries it again after an exception, maybe elsewhere."""
    command = ["gprof-convert", "work", out, "--plan", plan, "--tasks", "-"]
    run = subprocess.run(command, input=task, capture_output=True, text=True)
    answer = json.loads(run.stdout) if run.stdout else {"task": task, "status": "again", "error": run.stderr}
    if answer["status"] == "again":
        raise RuntimeError(str(answer))
    return answer


def answers(waiting):
    """Gives what became of each task, as they end."""
    while waiting:
        [ended], waiting = ray.wait(waiting)
        try:
            yield ray.get(ended)
        except ray.exceptions.RayError as error:
            yield {"status": "again", "error": str(error)}


def main(out, plan):
    left = subprocess.run(["gprof-convert", "work", out, "--plan", plan, "--list"], check=True, stdout=subprocess.PIPE, text=True)
    tasks = left.stdout.split()
    bad = 0
    for answer in answers([work.remote(task, out, plan) for task in tasks]):
        if answer["status"] not in ("done", "done-before"):
            bad += 1
            print(answer, file=sys.stderr)
    print(f"{len(tasks) - bad} of {len(tasks)} tasks done")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
