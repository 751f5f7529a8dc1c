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

// duckDB lets DuckDB write the rows of each table that matches one of some patterns, which it has
// in memory, on one thread. The CPU time is that of the COPYs alone.
func duckDB(options string, patterns ...string) work {
	return func(session string) (said, error) {
		dir := tablesBeside(session)
		queries := []string{"SET threads = 1; SET preserve_insertion_order = true"}
		var outputs []string
		for _, pattern := range patterns {
			tables, err := filepath.Glob(filepath.Join(dir, pattern))
			if err != nil {
				return said{}, err
			}
			for _, table := range tables {
				out := filepath.Join(dir, fmt.Sprint("duckdb-", len(outputs)))
				defer os.Remove(out)
				queries = append(queries,
					fmt.Sprintf("CREATE TABLE t%d AS FROM read_parquet('%s/**/*.parquet', union_by_name = true, hive_partitioning = false)", len(outputs), table),
					fmt.Sprintf("COPY t%d TO '%s' (FORMAT parquet, COMPRESSION zstd%s)", len(outputs), out, options))
				outputs = append(outputs, out)
			}
		}
		took, err := duckDBTimes(context.Background(), dir, queries...)
		if err != nil {
			return said{}, err
		}
		var all said
		for i, out := range outputs {
			info, err := os.Stat(out)
			if err != nil {
				return said{}, err
			}
			all.Bytes, all.CPU = all.Bytes+info.Size(), all.CPU+took[2+2*i]
		}
		all.CPU = all.CPU.Round(time.Microsecond)
		return all, nil
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
