-- How often each argument of each event had which value, and how long that took in all.
-- JSON and times differ from engine to engine: this is for Spark.
SELECT m.name AS event, a.key AS argument, a.value AS value, count(*) AS markers, CAST(coalesce(sum(m.duration_ns), 0) AS DOUBLE) / 1e6 AS total_ms,
    date_format(timestamp_micros(min(m.ts_ns) DIV 1000), 'yyyy-MM-dd HH:mm:ss') AS first
FROM markers m LATERAL VIEW explode(from_json(m.arguments, 'map<string,string>')) a AS key, value
GROUP BY ALL ORDER BY markers DESC, event, argument, value LIMIT 100;
