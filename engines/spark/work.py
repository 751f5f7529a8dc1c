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
    """Does a task; an exception has Spark try it again, four times in all unless it is told otherwise."""
    command = ["gprof-convert", "work", out, "--plan", plan, "--tasks", "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        print(task, file=process.stdin, flush=True)  # stdin ends with this executor, or with the answer
        answer = json.loads(process.stdout.readline() or '{"status": "again", "error": "killed"}')
    # The fourth exception would end all other tasks, too.
    if answer["status"] == "again" and TaskContext.get().attemptNumber() < 3:
        raise RuntimeError(f"{task}: {answer.get('error')}")
    return {"task": task} | answer


def main(out, plan):
    tasks = subprocess.run(["gprof-convert", "work", out, "--plan", plan, "--list"], check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    spark = SparkSession.builder.appName("gprof").getOrCreate()
    # A partition for each task: Spark repeats partitions. pipe() would give the command no environment.
    names = spark.sparkContext.parallelize(tasks, max(len(tasks), 1))
    answers = names.map(lambda task: work(task, out, plan)).collect()
    spark.stop()
    bad = [answer for answer in answers if answer["status"] in ("failed", "again")]
    for answer in bad:
        print(f"{answer['status']}: {answer}", file=sys.stderr)
    print(f"{len(tasks) - len(bad)} of {len(tasks)} tasks done")
    return len(bad) > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
