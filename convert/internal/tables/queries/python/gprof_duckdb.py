"""Tables of gprof in DuckDB. Nothing is read before it is asked for.

    run = gprof_duckdb.open("tables")
    run.top().df()                              # functions by samples, as pandas has it
    run.sql("SELECT count(*) FROM markers")     # a question of your own
"""

import pathlib

import duckdb


class Tables:
    def __init__(self, directory):
        self.directory = pathlib.Path(directory).resolve()
        self.connection = duckdb.connect()
        self.connection.execute("SET file_search_path = ?", [str(self.directory)])
        self.sql = self.connection.sql
        self.sql((self.directory / "queries/engines/duckdb.sql").read_text())

    def ask(self, query):
        """The answer to one of queries/*.sql, by its name: a relation."""
        return self.sql((self.directory / f"queries/{query}.sql").read_text().rstrip().rstrip(";"))

    def top(self):
        """Functions by the samples in them (self), and in or below them (total)."""
        return self.ask("top-functions")

    def folded(self):
        """Each stack, outermost function first, and its samples: what flame graphs are made of."""
        return self.ask("flame-graph").filter("self > 0").select("path AS stack, self AS samples").order("stack")

    def markers(self, event):
        """The markers of an event, with a time and their arguments as JSON."""
        return self.sql("SELECT make_timestamp_ns(ts_ns) AS time, * FROM markers WHERE name = $1 ORDER BY ALL", params=[event])

    def counter(self, name):
        """A counter of all processes over time."""
        return self.sql("SELECT make_timestamp_ns(ts_ns) AS time, session, process_id, value FROM counters WHERE counter = $1 "
                        "ORDER BY session, process_id, time, event_index", params=[name])


open = Tables
