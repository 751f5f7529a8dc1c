package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"gprof/fixtures/judges"
)

// duckLikeOurs are the options that make DuckDB write what we do.
const duckLikeOurs = ", COMPRESSION_LEVEL 1, PARQUET_VERSION v2"

// duckDB lets DuckDB write the rows of a table, which it has in memory, on one
// thread. The CPU time is that of the COPY alone.
func duckDB(table, options string) work {
	return func(session string) (said, error) {
		dir := tablesBeside(session)
		out := filepath.Join(dir, "duckdb-"+table)
		defer os.Remove(out)
		took, err := duckDBTimes(context.Background(), dir,
			"SET threads = 1; SET preserve_insertion_order = true; CREATE TABLE t AS FROM read_parquet('"+table+"/**/*.parquet', union_by_name = true, hive_partitioning = false)",
			fmt.Sprintf("COPY t TO '%s' (FORMAT parquet, COMPRESSION zstd%s)", out, options))
		if err != nil {
			return said{}, err
		}
		info, err := os.Stat(out)
		if err != nil {
			return said{}, err
		}
		return said{Bytes: info.Size(), CPU: took[1].Round(time.Microsecond)}, nil
	}
}

// duckDBTimes runs queries as [judges.DuckDB] does, and returns the CPU time of
// each, on all threads.
func duckDBTimes(ctx context.Context, dir string, queries ...string) ([]time.Duration, error) {
	var micros []int64
	if err := judges.ReadTables(ctx, &micros, map[string]any{"reader": "duckdbTimes", "dir": dir, "queries": queries}); err != nil {
		return nil, err
	}
	times := make([]time.Duration, len(micros))
	for i, n := range micros {
		times[i] = time.Duration(n) * time.Microsecond
	}
	return times, nil
}
