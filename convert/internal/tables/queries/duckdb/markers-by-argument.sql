-- How often each argument of each event had which value, and how long that took in all.
-- JSON and times differ from engine to engine: this is for DuckDB.
SELECT m.name AS event, a.key AS argument, a.value ->> '$' AS value, count(*) AS markers, CAST(coalesce(sum(m.duration_ns), 0) AS DOUBLE) / 1e6 AS total_ms,
    strftime(make_timestamp_ns(min(m.ts_ns)), '%Y-%m-%d %H:%M:%S') AS first
FROM markers m, json_each(m.arguments) a
GROUP BY ALL ORDER BY markers DESC, event, argument, value LIMIT 100;
