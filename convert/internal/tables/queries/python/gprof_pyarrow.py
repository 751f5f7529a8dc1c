"""Tables of gprof in PyArrow. A table is a data set, of which only what is asked for is read.

    run = gprof_pyarrow.open("tables")
    run.top().slice(0, 10).to_pylist()                          # functions by samples
    run.table("samples").to_table(columns=["ts_ns", "weight"])
"""

import pathlib

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

STACK = ["session", "stack_id"]
FRAME = ["session", "frame_id"]


class Tables:
    def __init__(self, directory):
        self.directory = pathlib.Path(directory)

    def table(self, name):
        return ds.dataset(self.directory / name, partitioning="hive")

    def frames(self):
        """A row for each frame of each stack with samples, outermost first: name, weight."""
        samples = self.table("samples").to_table(columns=[*STACK, "weight"]).group_by(STACK).aggregate([("weight", "sum")])
        stacks = self.table("stacks").to_table(columns=[*STACK, "frames"]).combine_chunks()
        rows = stacks.select(STACK).take(pc.list_parent_indices(stacks["frames"]))
        rows = rows.append_column("frame_id", pc.list_flatten(stacks["frames"])).append_column("place", pa.array(range(len(rows)), pa.int64()))
        names = self.table("frames").to_table(columns=[*FRAME, "name"])
        return rows.join(samples, STACK, join_type="inner").join(names, FRAME).sort_by([("place", "descending")])

    def top(self):
        """Functions by the samples in them (self), and in or below them (total)."""
        frames = self.frames()
        leaves = ordered(frames, STACK).aggregate([("name", "last"), ("weight_sum", "last")])
        leaves = leaves.group_by("name_last").aggregate([("weight_sum_last", "sum")]).rename_columns(["function", "self"])
        below = frames.group_by([*STACK, "name"]).aggregate([("weight_sum", "max")]).group_by("name").aggregate([("weight_sum_max", "sum")])
        top = below.rename_columns(["function", "total"]).join(leaves, "function")
        top = top.set_column(2, "self", pc.fill_null(top["self"], 0)).select(["function", "self", "total"])
        return top.sort_by([("self", "descending"), ("total", "descending"), ("function", "ascending")])

    def folded(self):
        """Each stack, outermost function first, and its samples: what flame graphs are made of."""
        stacks = ordered(self.frames(), STACK).aggregate([("name", "list"), ("weight_sum", "first")])
        stacks = stacks.append_column("stack", pc.binary_join(stacks["name_list"], ";")).group_by("stack")
        return stacks.aggregate([("weight_sum_first", "sum")]).rename_columns(["stack", "samples"]).sort_by("stack")

    def markers(self, event):
        """The markers of an event, with a time and their arguments as JSON."""
        return timed(self.table("markers").to_table(filter=pc.field("name") == event)).sort_by("time")

    def counter(self, name):
        """A counter of all processes over time."""
        rows = timed(self.table("counters").to_table(filter=pc.field("counter") == name))
        order = [(column, "ascending") for column in ("session", "process_id", "time", "event_index")]
        return rows.sort_by(order).select(["time", "session", "process_id", "value"])


def ordered(rows, keys):
    return rows.group_by(keys, use_threads=False)  # threads would lose the order of rows


def timed(rows):
    return rows.append_column("time", pc.cast(rows["ts_ns"], pa.timestamp("ns")))


open = Tables
