-- The traces whose spans took most CPU time, by their ids as tracing systems show them.
-- The function hex is not known to all engines: this is for ClickHouse.
SELECT lower(hex(trace_id)) AS trace, count(DISTINCT span_id) AS spans, CAST(sum(weight) AS BIGINT) AS samples, CAST(coalesce(sum(cpu_ns), 0) AS DOUBLE) / 1e6 AS cpu_ms
FROM samples WHERE trace_id IS NOT NULL
GROUP BY trace_id ORDER BY cpu_ms DESC, samples DESC, trace LIMIT 100;
