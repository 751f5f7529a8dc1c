"""Tables of gprof in pandas. A table is read when it is asked for.

    run = gprof_pandas.open("tables")
    run.top().head(10)                                  # functions by samples
    run.counter("heap live").set_index("time").value    # a series to plot
"""

import pathlib

import pandas as pd

STACK = ["session", "stack_id"]
FRAME = ["session", "frame_id"]


class Tables:
    def __init__(self, directory):
        self.directory = pathlib.Path(directory)

    def table(self, name, columns=None, filters=None):
        # Types of pandas itself would round large numbers of columns with NULL.
        return pd.read_parquet(self.directory / name, columns=columns, filters=filters, dtype_backend="pyarrow")

    def weights(self):
        """The samples of each stack."""
        return self.table("samples", [*STACK, "weight"]).dropna().groupby(STACK, as_index=False).sum()

    def frames(self):
        """A row for each frame of each stack with samples, leaf first: samples, name."""
        stacks = self.table("stacks", [*STACK, "frames"]).merge(self.weights(), on=STACK).explode("frames")
        stacks = stacks.astype({"frames": "int32[pyarrow]"}).rename(columns={"frames": "frame_id"})
        return stacks.merge(self.table("frames", [*FRAME, "name"]), on=FRAME)

    def top(self):
        """Functions by the samples in them (self), and in or below them (total)."""
        stacks = self.table("stacks", [*STACK, "last_id", "frame_id", "outermost"]).merge(self.weights(), on=STACK, how="left")
        stacks = stacks.fillna({"weight": 0}).sort_values(STACK)
        stacks["sum"] = stacks.weight.cumsum()  # below a stack are those up to its last_id
        last = stacks[["session", "stack_id", "sum"]].rename(columns={"stack_id": "last_id", "sum": "last_sum"})
        stacks = stacks.merge(last, on=["session", "last_id"]).merge(self.table("frames", [*FRAME, "name"]), on=FRAME)
        stacks["total"] = (stacks.last_sum - stacks["sum"] + stacks.weight) * stacks.outermost.astype("int64[pyarrow]")
        top = stacks.groupby("name", as_index=False)[["weight", "total"]].sum().set_axis(["function", "self", "total"], axis=1)
        top = top[(top.self != 0) | (top.total != 0)]
        return top.sort_values(["self", "total", "function"], ascending=[False, False, True], ignore_index=True)

    def folded(self):
        """Each stack, outermost function first, and its samples: what flame graphs are made of."""
        stacks = self.frames().groupby(STACK).agg(stack=("name", lambda names: ";".join(reversed(list(names)))), samples=("weight", "first"))
        return stacks.groupby("stack", as_index=False).samples.sum()

    def markers(self, event):
        """The markers of an event, with a time and their arguments as JSON."""
        return timed(self.table("markers", filters=[("name", "==", event)])).sort_values("time", ignore_index=True)

    def counter(self, name):
        """A counter of all processes over time."""
        rows = timed(self.table("counters", filters=[("counter", "==", name)]))
        return rows.sort_values(["session", "process_id", "time", "event_index"])[["time", "session", "process_id", "value"]]


def timed(rows):
    return rows.assign(time=pd.to_datetime(rows.ts_ns))


open = Tables
