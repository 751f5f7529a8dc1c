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

    def weights(self):
        """The samples of each stack."""
        return self.table("samples").to_table(columns=[*STACK, "weight"]).group_by(STACK).aggregate([("weight", "sum")])

    def frames(self):
        """A row for each frame of each stack with samples, outermost first: name, weight."""
        stacks = self.table("stacks").to_table(columns=[*STACK, "frames"]).combine_chunks()
        rows = stacks.select(STACK).take(pc.list_parent_indices(stacks["frames"]))
        rows = rows.append_column("frame_id", pc.list_flatten(stacks["frames"])).append_column("place", pa.array(range(len(rows)), pa.int64()))
        names = self.table("frames").to_table(columns=[*FRAME, "name"])
        return rows.join(self.weights(), STACK, join_type="inner").join(names, FRAME).sort_by([("place", "descending")])

    def top(self):
        """Functions by the samples in them (self), and in or below them (total)."""
        stacks = self.table("stacks").to_table(columns=[*STACK, "last_id", "frame_id", "outermost"])
        stacks = stacks.join(self.weights(), STACK).sort_by([(column, "ascending") for column in STACK])
        own = pc.fill_null(stacks["weight_sum"], 0)
        stacks = stacks.append_column("self", own).append_column("sum", pc.cumulative_sum(own))
        last = stacks.select([*STACK, "sum"]).rename_columns(["session", "last_id", "last_sum"])  # of those below a stack
        stacks = stacks.join(last, ["session", "last_id"]).join(self.table("frames").to_table(columns=[*FRAME, "name"]), FRAME)
        below = pc.add(pc.subtract(stacks["last_sum"], stacks["sum"]), stacks["self"])
        stacks = stacks.append_column("total", pc.if_else(stacks["outermost"], below, 0))
        top = stacks.group_by("name").aggregate([("self", "sum"), ("total", "sum")]).rename_columns(["function", "self", "total"])
        top = top.filter((pc.field("self") != 0) | (pc.field("total") != 0))
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
