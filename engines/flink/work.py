"""Does the tasks of a plan on Flink: flink run -py work.py OUT PLAN

Only names of tasks, and what became of them, pass through Flink. TaskManagers need gprof-convert in
their PATH, and credentials of the store in their environment.
"""

import json
import subprocess
import sys

from pyflink.common import Configuration, Types
from pyflink.datastream import MapFunction, RuntimeContext, RuntimeExecutionMode, StreamExecutionEnvironment


class Work(MapFunction):
    """Does tasks; an exception has Flink try again, maybe elsewhere."""

    def __init__(self, out, plan):
        self.command = ["gprof-convert", "work", out, "--plan", plan, "--tasks", "-"]

    def open(self, context: RuntimeContext):
        self.attempt = context.get_attempt_number()

    def map(self, task):
        run = subprocess.run(self.command, input=task, capture_output=True, text=True)
        answer = json.loads(run.stdout) if run.stdout else {"task": task, "status": "again", "error": run.stderr}
        if answer["status"] == "again" and self.attempt < 3:
            raise RuntimeError(str(answer))
        return json.dumps(answer)


def main(out, plan):
    left = subprocess.run(["gprof-convert", "work", out, "--plan", plan, "--list"], check=True, stdout=subprocess.PIPE, text=True)
    tasks = left.stdout.split()
    if not tasks:
        return False
    flink = StreamExecutionEnvironment.get_execution_environment(Configuration().set_string("restart-strategy.type", "exponential-delay"))
    # As a batch with a subtask for each task, each is repeated by itself, and takes the next slot that is free.
    flink.set_runtime_mode(RuntimeExecutionMode.BATCH)
    names = flink.from_collection(tasks, Types.STRING()).rebalance()
    work = names.map(Work(out, plan), Types.STRING()).set_parallelism(len(tasks))
    answers = [json.loads(answer) for answer in work.execute_and_collect("gprof")]
    bad = [answer for answer in answers if answer["status"] not in ("done", "done-before")]
    for answer in bad:
        print(answer, file=sys.stderr)
    print(f"{len(tasks) - len(bad)} of {len(tasks)} tasks done")
    return len(bad) > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
