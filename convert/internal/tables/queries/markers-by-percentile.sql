-- How long the intervals of each event took. For one of them: AND name = 'http.request'
WITH placed AS (
    SELECT name, duration_ns,
        ROW_NUMBER() OVER (PARTITION BY name ORDER BY duration_ns) AS place,
        COUNT(*) OVER (PARTITION BY name) AS many
    FROM markers WHERE duration_ns IS NOT NULL
)
SELECT name, many AS intervals,
    min(CASE WHEN place * 100 >= many * 50 THEN duration_ns END) / 1e6 AS p50_ms,
    min(CASE WHEN place * 100 >= many * 90 THEN duration_ns END) / 1e6 AS p90_ms,
    min(CASE WHEN place * 100 >= many * 99 THEN duration_ns END) / 1e6 AS p99_ms,
    max(duration_ns) / 1e6 AS max_ms, sum(CAST(duration_ns AS DOUBLE)) / 1e9 AS total_s
FROM placed GROUP BY name, many
ORDER BY total_s DESC, name;
