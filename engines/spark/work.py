"""Does the tasks of a plan on Spark: spark-submit work.py OUT PLAN

Only names of tasks, and what became of them, pass through Spark. Executors need gprof-convert in
their PATH, and credentials of the store in their environment (spark.executorEnv.NAME=VALUE).
"""

import json
import subprocess
import sys

from pyspark import TaskContext
from pyspark.sql import SparkSession


def work(task, out, plan):
    """Does a task; an exception has Spark try it again, maybe elsewhere."""
    command = ["gprof-convert", "work", out, "--plan", plan, "--tasks", "-"]
    run = subprocess.run(command, input=task, capture_output=True, text=True)
    answer = json.loads(run.stdout) if run.stdout else {"task": task, "status": "again", "error": run.stderr}
    # The fourth exception of a task would end all the others, too.
    if answer["status"] == "again" and TaskContext.get().attemptNumber() < 3:
        raise RuntimeError(str(answer))
    return answer


def main(out, plan):
    left = subprocess.run(["gprof-convert", "work", out, "--plan", plan, "--list"], check=True, stdout=subprocess.PIPE, text=True)
    tasks = left.stdout.split()
    spark = SparkSession.builder.appName("gprof").getOrCreate()
    # A partition for each task: Spark repeats partitions. pipe() would give the command no environment.
    names = spark.sparkContext.parallelize(tasks, max(len(tasks), 1))
    answers = names.map(lambda task: work(task, out, plan)).collect()
    spark.stop()
    bad = [answer for answer in answers if answer["status"] not in ("done", "done-before")]
    for answer in bad:
        print(answer, file=sys.stderr)
    print(f"{len(tasks) - len(bad)} of {len(tasks)} tasks done")
    return len(bad) > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
