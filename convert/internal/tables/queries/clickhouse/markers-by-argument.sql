-- How often each argument of each event had which value, and how long that took in all.
-- JSON and times differ from engine to engine: this is for ClickHouse.
SELECT name AS event, pair.1 AS argument, pair.2 AS value, toInt64(count()) AS markers, toFloat64(coalesce(sum(duration_ns), 0)) / 1e6 AS total_ms,
    formatDateTime(fromUnixTimestamp64Nano(min(ts_ns), 'UTC'), '%Y-%m-%d %H:%i:%S') AS first
FROM markers ARRAY JOIN JSONExtractKeysAndValues(coalesce(arguments, '{}'), 'String') AS pair
GROUP BY event, argument, value ORDER BY markers DESC, event, argument, value LIMIT 100;
