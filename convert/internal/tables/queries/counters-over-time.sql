-- Counters of each process, second by second: the level at the end of each, its
-- lowest and highest value, and for those that count up the increase.
WITH seconds AS (
    SELECT session, process_id, counter_id, counter, unit, total, ts_ns // 1000000000 AS second,
        arg_max(value, (ts_ns, event_index)) AS value, min(value) AS lowest, max(value) AS highest
    FROM 'counters/**/*.parquet' GROUP BY ALL
)
SELECT p.name AS process, p.pid, counter, unit, make_timestamp_ns(second * 1000000000) AS at, value, lowest, highest,
    CASE WHEN s.total THEN value::HUGEINT - lag(value) OVER (PARTITION BY session, process_id, counter_id ORDER BY second) END AS increase
FROM seconds s JOIN 'processes/**/*.parquet' p USING (session, process_id)
ORDER BY session, process_id, counter, counter_id, second;
