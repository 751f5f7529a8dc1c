package tables

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// engine is a program that speaks SQL. The queries are the same for all; each has its own way to
// turn files into tables.
type engine struct {
	name   string
	use    []string          // how to run a query
	before []string          // settings
	view   map[string]string // makes a table of files, %[1]s; by extension
	frames string            // makes stack_frames
}

var engines = []engine{
	{
		name: "duckdb",
		use:  []string{"cat queries/engines/duckdb.sql queries/top-functions.sql | duckdb"},
		view: map[string]string{
			".parquet": "CREATE OR REPLACE VIEW %[1]s AS SELECT * FROM read_parquet('%[1]s/**/*.parquet', hive_partitioning = true);",
			".arrow":   "CREATE OR REPLACE VIEW %[1]s AS SELECT * FROM '%[1]s.arrow'; -- by its extension nanoarrow",
		},
		frames: "CREATE OR REPLACE VIEW stack_frames AS SELECT session, stack_id, unnest(frames) AS frame_id FROM stacks;",
	},
	{
		name: "datafusion",
		use:  []string{"datafusion-cli -f queries/engines/datafusion.sql queries/top-functions.sql"},
		view: map[string]string{
			".parquet": "CREATE EXTERNAL TABLE IF NOT EXISTS %[1]s STORED AS PARQUET PARTITIONED BY (service, date) LOCATION '%[1]s/';",
		}, // not Arrow: two of the queries came in another order there
		frames: "CREATE OR REPLACE VIEW stack_frames AS SELECT session, stack_id, unnest(frames) AS frame_id FROM stacks;",
	},
	{
		name: "spark",
		use:  []string{"spark-sql -i queries/engines/spark.sql -f queries/top-functions.sql"},
		view: map[string]string{
			".parquet": "CREATE OR REPLACE TEMPORARY VIEW %[1]s USING parquet OPTIONS (path '%[1]s');",
		},
		frames: "CREATE OR REPLACE TEMPORARY VIEW stack_frames AS SELECT session, stack_id, explode(frames) AS frame_id FROM stacks;",
	},
	{
		name:   "clickhouse",
		use:    []string{"clickhouse local --queries-file queries/engines/clickhouse.sql queries/top-functions.sql"},
		before: []string{"SET join_use_nulls = 1;", "SET cast_keep_nullable = 1;"},
		view: map[string]string{
			".parquet": "CREATE OR REPLACE VIEW %[1]s AS SELECT * FROM file('%[1]s/**/*.parquet', Parquet);",
			".arrow":   "CREATE OR REPLACE VIEW %[1]s AS SELECT * FROM file('%[1]s.arrow', Arrow);",
		},
		frames: "CREATE OR REPLACE VIEW stack_frames AS SELECT session, stack_id, arrayJoin(frames) AS frame_id FROM stacks;",
	},
	{
		name: "polars",
		use: []string{
			"sql = polars.SQLContext()",
			`for s in open("queries/engines/polars.sql").read().split(";\n")[:-1]: sql.execute(s)`,
			`print(sql.execute(open("queries/top-functions.sql").read()).collect())`,
		},
		view: map[string]string{
			".parquet": "CREATE TABLE %[1]s AS SELECT * FROM read_parquet('%[1]s/**/*.parquet');",
			".arrow":   "CREATE TABLE %[1]s AS SELECT * FROM read_ipc('%[1]s.arrow');",
		},
		frames: "CREATE TABLE stack_frames AS SELECT session, stack_id, frame_id FROM (SELECT session, stack_id, frames FROM stacks) s CROSS JOIN UNNEST(s.frames) AS u(frame_id);",
	},
}

// script turns files with that extension into tables; it is empty if the engine cannot read them.
func (e *engine) script(extension string) string {
	view := e.view[extension]
	if view == "" {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "-- Tables for the queries. In the directory that holds queries:\n")
	for _, line := range e.use {
		fmt.Fprintf(&b, "--   %s\n", line)
	}
	for _, line := range e.before {
		fmt.Fprintln(&b, line)
	}
	for _, name := range tableNames() {
		fmt.Fprintf(&b, view+"\n", name)
	}
	fmt.Fprintln(&b, e.frames)
	return b.String()
}

// tableNames are those of all tables except typed ones of markers.
func tableNames() (names []string) {
	for _, d := range kindTables {
		if d.Name != "" {
			names = append(names, d.Name)
		}
	}
	for _, d := range []Definition{processTable, attributeTable, clockTable, trackTable, eventTableDefinition, frameTable, stringTable, stackTable, lossTable, coverageTable} {
		names = append(names, d.Name)
	}
	return names
}

// Version is the version of the tables. It stays when columns or tables are added, unless a query
// needs them.
const Version = "3"

// VersionKey is its key in the metadata of files.
const VersionKey = "gprof.tables"

// Stamp is a file that marks a directory of such tables, with their version. Nothing must be added
// to a directory with another stamp, or without one.
const Stamp = "_gprof.json"

// StampText is the contents of the stamp for files with that extension.
func StampText(extension string) string {
	return `{"format":"gprof tables","version":` + Version + `,"files":"` + extension + "\"}\n"
}

// Last begins the names of files that say which sessions are complete.
const Last = "coverage/"

// queries are questions to ask of the tables: those that all engines understand, in a
// directory for an engine those that each asks in words of its own, and modules of Python
// that ask them by its libraries.
//
//go:embed queries
var queries embed.FS

// modules is the directory of Python's modules. They read Parquet files.
const modules = "queries/python"

// writeStamp writes what does not depend on the run.
func (s *Sink) writeStamp() error {
	if err := s.writeFile(Stamp, []byte(StampText(s.format.Extension))); err != nil {
		return err
	}
	if err := s.writeQueries(); err != nil {
		return err
	}
	for i := range engines {
		if script := engines[i].script(s.format.Extension); script != "" {
			if err := s.writeFile("queries/engines/"+engines[i].name+".sql", []byte(script)); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeQueries writes all queries that the files can be asked.
func (s *Sink) writeQueries() error {
	return fs.WalkDir(queries, ".", func(name string, d fs.DirEntry, err error) error { // by name
		switch {
		case err != nil:
			return err
		case name == modules && s.format.Extension != ".parquet":
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		text, err := queries.ReadFile(name)
		if err != nil {
			return err
		}
		return s.writeFile(name, text)
	})
}

func (s *Sink) writeFile(name string, text []byte) error {
	w, err := s.dir.Create(name)
	if err != nil {
		return err
	}
	n, err := w.Write(text)
	if err == nil && n < len(text) {
		err = io.ErrShortWrite
	}
	return errors.Join(err, w.Close())
}
