-- Counters of each process, second by second: the level at the end of each, its
-- lowest and highest value, and for those that count up the increase.
WITH placed AS (
    SELECT session, process_id, counter_id, counter, unit, total, value, ts_ns - ts_ns % 1000000000 AS second_ns,
        ROW_NUMBER() OVER (PARTITION BY session, process_id, counter_id, ts_ns - ts_ns % 1000000000 ORDER BY ts_ns DESC, event_index DESC) AS place
    FROM counters
), seconds AS (
    SELECT session, process_id, counter_id, counter, unit, total, second_ns,
        max(CASE WHEN place = 1 THEN value END) AS level, min(value) AS lowest, max(value) AS highest
    FROM placed GROUP BY session, process_id, counter_id, counter, unit, total, second_ns
), steps AS (
    SELECT session, process_id, counter_id, counter, unit, total, second_ns, level, lowest, highest,
        LAG(level) OVER (PARTITION BY session, process_id, counter_id ORDER BY second_ns) AS previous
    FROM seconds
)
SELECT p.name AS process, p.pid AS pid, s.counter AS counter, s.unit AS unit, s.second_ns AS second_ns,
    s.level AS level, s.lowest AS lowest, s.highest AS highest,
    CASE WHEN s.total AND (s.level >= 0 AND s.previous >= 0 OR s.level < 0 AND s.previous < 0) THEN s.level - s.previous END AS increase -- else it may overflow
FROM steps s JOIN processes p ON p.session = s.session AND p.process_id = s.process_id
ORDER BY s.session, s.process_id, counter, s.counter_id, second_ns;
