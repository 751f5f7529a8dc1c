-- The slowest hundredth of each event by service and version: what a release
-- has changed. Of 5,000 small dumps, each converted by itself, it takes some 10 s
-- of CPU time, most of it to open the files. Of one event it takes a part of
-- that: FROM 'markers/event=http.request/**/*.parquet'.
SELECT m.name AS event, p.service_name AS service, p.version, count(*) AS count, count(DISTINCT p.instance) AS processes,
    quantile_disc(m.duration_ns, 0.50) / 1e6 AS p50_ms, quantile_disc(m.duration_ns, 0.99) / 1e6 AS p99_ms
FROM read_parquet('markers/**/*.parquet', union_by_name = true) m
    JOIN 'processes/**/*.parquet' p USING (session, process_id)
WHERE m.duration_ns IS NOT NULL AND m.name = coalesce(getvariable('marker'), m.name)
GROUP BY ALL ORDER BY event, service, p.version;
