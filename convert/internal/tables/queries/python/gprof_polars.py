"""Tables of gprof in polars. Nothing is read before it is collected.

    run = gprof_polars.open("tables")
    run.top().collect()                     # functions by samples
    run.table("markers").collect_schema()   # a table is a LazyFrame
"""

import pathlib

import polars as pl

STACK = ["session", "stack_id"]


class Tables:
    def __init__(self, directory):
        self.directory = pathlib.Path(directory)

    def table(self, name):
        return pl.scan_parquet(self.directory / name / "**/*.parquet", hive_partitioning=True)

    def ask(self, query):
        """The answer to one of queries/*.sql, by its name: a LazyFrame."""
        script = (self.directory / "queries/engines/polars.sql").read_text().replace("read_parquet('", f"read_parquet('{self.directory}/")
        sql = pl.SQLContext()
        for statement in script.split(";\n")[:-1]:
            sql.execute(statement)
        return sql.execute((self.directory / f"queries/{query}.sql").read_text())

    def top(self):
        """Functions by the samples in them (self), and in or below them (total)."""
        return self.ask("top-functions")

    def folded(self):
        """Each stack, outermost function first, and its samples: what flame graphs are made of."""
        names = self.table("frames").select("session", "frame_id", "name")
        frames = self.table("stacks").select(*STACK, frame_id="frames").explode("frame_id").join(names, on=["session", "frame_id"], maintain_order="left")
        paths = frames.group_by(STACK, maintain_order=True).agg(stack=pl.col("name").reverse().str.join(";"))
        samples = self.table("samples").join(paths, on=STACK)
        return samples.group_by("stack").agg(samples=pl.col("weight").sum()).sort("stack")

    def markers(self, event):
        """The markers of an event, with a time and their arguments as JSON."""
        return self.table("markers").filter(name=event).with_columns(time=pl.from_epoch("ts_ns", "ns")).sort("ts_ns")

    def counter(self, name):
        """A counter of all processes over time."""
        rows = self.table("counters").filter(counter=name).sort("session", "process_id", "ts_ns", "event_index")
        return rows.select("session", "process_id", "value", time=pl.from_epoch("ts_ns", "ns"))


open = Tables
