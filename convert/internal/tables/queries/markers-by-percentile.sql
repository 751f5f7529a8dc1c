-- How long the intervals of each event took. For some of them:
--   SET VARIABLE marker = 'http.request';
SELECT name, count(*) AS count,
    quantile_disc(duration_ns, 0.50) / 1e6 AS p50_ms,
    quantile_disc(duration_ns, 0.90) / 1e6 AS p90_ms,
    quantile_disc(duration_ns, 0.99) / 1e6 AS p99_ms,
    max(duration_ns) / 1e6 AS max_ms, sum(duration_ns::HUGEINT)::DOUBLE / 1e9 AS total_s
FROM read_parquet('markers/**/*.parquet', union_by_name = true)
WHERE duration_ns IS NOT NULL AND name = coalesce(getvariable('marker'), name)
GROUP BY name ORDER BY total_s DESC, name;
